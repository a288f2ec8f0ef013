/** A section of the panel: only while it can be seen is it drawn, and does its model ask the server. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { VDomRenderer } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';

/** A model that is kept up to date while it is open. */
export interface IOpenable extends VDomRenderer.IModel {
  isOpen: boolean;
}

export abstract class Section<M extends IOpenable> extends VDomRenderer<M> {
  constructor(
    protected readonly own: M,
    protected readonly trans: TranslationBundle,
    said: { className: string; label: string; caption: string }
  ) {
    super(own);
    this.addClass('jp-Memory');
    this.addClass(said.className);
    this.title.label = said.label;
    this.title.caption = said.caption;
  }

  protected override onAfterAttach(msg: Message): void {
    super.onAfterAttach(msg);
    this.own.isOpen = this.isVisible;
  }

  protected override onBeforeDetach(msg: Message): void {
    super.onBeforeDetach(msg);
    this.own.isOpen = false;
  }

  protected override onAfterShow(msg: Message): void {
    super.onAfterShow(msg);
    this.own.isOpen = true;
    this.update();
  }

  protected override onAfterHide(msg: Message): void {
    super.onAfterHide(msg);
    this.own.isOpen = false;
  }

  /** What nobody sees is drawn when it is shown: the model tells of every key that is typed. */
  protected override onUpdateRequest(msg: Message): void {
    if (this.isVisible) {
      super.onUpdateRequest(msg);
    }
  }
}
