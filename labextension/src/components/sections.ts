/** The sections of the panel: their registry, and the widget that shows one of them. */

import { type Toolbar, VDomRenderer } from '@jupyterlab/ui-components';
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import type { Message } from '@lumino/messaging';
import { type ISignal, Signal } from '@lumino/signaling';

import type { ISection, ISectionModel, ISectionRegistry } from '../tokens';

export class SectionRegistry implements ISectionRegistry {
  /** A section was added or removed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The sections from top to bottom. */
  get sections(): readonly ISection[] {
    return this._sections;
  }

  add(section: ISection): IDisposable {
    if (this._sections.some(({ id }) => id === section.id)) {
      throw new Error(`The panel already has a section with the id '${section.id}'.`);
    }
    this._set([...this._sections, section].sort((a, b) => a.rank - b.rank));
    return new DisposableDelegate(() => this._set(this._sections.filter(one => one !== section)));
  }

  private _set(sections: readonly ISection[]): void {
    this._sections = sections;
    this._changed.emit();
  }

  private readonly _changed = new Signal<this, void>(this);
  private _sections: readonly ISection[] = [];
}

/** Draws a section. One with a model is drawn, and its model asks the server, only while it can be seen. */
export class SectionWidget extends VDomRenderer<ISectionModel | null> {
  constructor(readonly section: ISection) {
    super(section.model);
    this.toolbar = section.toolbar;
    this.addClass('jp-Memory');
    if (section.className) {
      this.addClass(section.className);
    }
    this.title.label = section.label();
    this.title.caption = section.caption;
    section.model?.stateChanged.connect(this._updateTitle, this);
  }

  /** Lab shows it in the title of the section. */
  readonly toolbar: Toolbar | undefined;

  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    this.section.model?.stateChanged.disconnect(this._updateTitle, this);
    super.dispose();
    this.section.dispose?.();
  }

  protected override render(): JSX.Element | null {
    return this.section.render();
  }

  protected override onAfterAttach(msg: Message): void {
    super.onAfterAttach(msg);
    this._setOpen(this.isVisible);
  }

  protected override onBeforeDetach(msg: Message): void {
    super.onBeforeDetach(msg);
    this._setOpen(false);
  }

  protected override onAfterShow(msg: Message): void {
    super.onAfterShow(msg);
    this._setOpen(true);
    this.update();
  }

  protected override onAfterHide(msg: Message): void {
    super.onAfterHide(msg);
    this._setOpen(false);
  }

  /** A hidden section is drawn when it is shown: its model changes with every key that is typed. */
  protected override onUpdateRequest(msg: Message): void {
    if (this.isVisible || !this.section.model) {
      super.onUpdateRequest(msg);
    }
  }

  private _setOpen(isOpen: boolean): void {
    if (this.section.model) {
      this.section.model.isOpen = isOpen;
    }
  }

  private _updateTitle(): void {
    this.title.label = this.section.label();
  }
}
