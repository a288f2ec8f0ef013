/** The section of the panel that shows how an answer came about. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { VDomRenderer } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import React from 'react';

import { Asked, Timings } from './asked';
import { DebuggerModel, type DebuggerApi } from './debugger_model';
import { Lists } from './lists';
import type { SearchModel } from './model';
import { ProfileSwitch } from './profile_switch';
import { Recent } from './recent';
import { Why } from './why';

export interface IDebuggerOptions {
  model: SearchModel;
  api: DebuggerApi;
  trans: TranslationBundle;
}

/** Asks for lists and explanations only while it can be seen. */
export class DebuggerWidget extends VDomRenderer<DebuggerModel> {
  constructor({ model, api, trans }: IDebuggerOptions) {
    const own = new DebuggerModel(model, api);
    super(own);
    this._own = own;
    this._trans = trans;
    this.addClass('jp-Memory');
    this.addClass('jp-Memory-debugger');
    this.title.label = trans.__('Debugger');
    this.title.caption = trans.__('How the answer came about');
  }

  override dispose(): void {
    super.dispose();
    this._own.dispose();
  }

  protected override onAfterAttach(msg: Message): void {
    super.onAfterAttach(msg);
    this.model.isOpen = this.isVisible;
  }

  protected override onBeforeDetach(msg: Message): void {
    super.onBeforeDetach(msg);
    this._own.isOpen = false;
  }

  protected override onAfterShow(msg: Message): void {
    super.onAfterShow(msg);
    this.model.isOpen = true;
  }

  protected override onAfterHide(msg: Message): void {
    super.onAfterHide(msg);
    this.model.isOpen = false;
  }

  protected override render(): React.JSX.Element {
    return <Debugger model={this.model} trans={this._trans} />;
  }

  private readonly _own: DebuggerModel;
  private readonly _trans: TranslationBundle;
}

interface IDebuggerProps {
  model: DebuggerModel;
  trans: TranslationBundle;
}

export function Debugger({ model, trans }: IDebuggerProps): React.JSX.Element {
  const { answer } = model;
  return (
    <div className="jp-Memory-debuggerBody">
      {model.problem && (
        <p className="jp-Memory-refusal" role="alert">
          {model.problem.message}
        </p>
      )}
      {answer ? (
        <>
          <Asked answer={answer} useTime={model.search.useTime} trans={trans} />
          {answer.lists && (
            <Lists lists={answer.lists} chosen={model.chosen} onChoose={id => model.choose(id)} trans={trans} />
          )}
          <Why model={model} trans={trans} />
          <Timings answer={answer} trans={trans} />
        </>
      ) : (
        <p className="jp-Memory-dim">{trans.__('Search for something: here stands how its answer came about.')}</p>
      )}
      <ProfileSwitch model={model} trans={trans} />
      <Recent model={model} trans={trans} />
    </div>
  );
}
