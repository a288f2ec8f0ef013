/** The section of the panel that shows what is indexed, indexes more, and looks after the store. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { VDomRenderer } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import React from 'react';

import { AddFolder } from './add_folder';
import { Folders } from './folders';
import type { IndexModel } from './index_model';
import { Jobs } from './jobs';
import { Models } from './models_section';
import { Store } from './store_section';

export interface IIndexOptions {
  model: IndexModel;
  trans: TranslationBundle;
  /** The folder that Lab's file browser shows, as a contents path. */
  folderNow?: () => string;
  /** Let a person pick a folder; null where they did not. */
  pickFolder?: () => Promise<string | null>;
}

/** Keeps its model up to date while it can be seen. */
export class IndexWidget extends VDomRenderer<IndexModel> {
  constructor(private readonly _options: IIndexOptions) {
    super(_options.model);
    const { model, trans } = _options;
    this.addClass('jp-Memory');
    this.addClass('jp-Memory-index');
    this.title.label = trans.__('Index');
    this.title.caption = trans.__('What is indexed');
    model.stateChanged.connect(this._retitle, this);
  }

  override dispose(): void {
    this._options.model.stateChanged.disconnect(this._retitle, this);
    super.dispose();
  }

  protected override onAfterAttach(msg: Message): void {
    super.onAfterAttach(msg);
    this.model.isOpen = this.isVisible;
  }

  protected override onBeforeDetach(msg: Message): void {
    super.onBeforeDetach(msg);
    this._options.model.isOpen = false;
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
    return <Index {...this._options} />;
  }

  /** What is going on shows when the section is folded, too. */
  private _retitle(): void {
    const { model, trans } = this._options;
    const failed = model.jobs.reduce((all, job) => all + job.failed.length, 0);
    const told = model.isIndexing ? trans.__('indexing…') : failed ? trans.__('%1 failed', failed) : '';
    const label = trans.__('Index');
    this.title.label = told ? `${label} · ${told}` : label;
  }
}

export function Index({ model, trans, folderNow, pickFolder }: IIndexOptions): React.JSX.Element {
  const { status } = model;
  return (
    <div className="jp-Memory-indexBody">
      {model.problem && <Problem model={model} trans={trans} />}
      {model.refusal && (
        <p className="jp-Memory-refusal" role="alert">
          {model.refusal.message}{' '}
          <button className="jp-Memory-link" onClick={() => model.dismissRefusal()}>
            {trans.__('Dismiss')}
          </button>
        </p>
      )}
      {status?.notices.map(notice => (
        <p key={notice} className="jp-Memory-remark">
          {notice}
        </p>
      ))}
      {status && (
        <>
          <Jobs model={model} trans={trans} />
          <Folders model={model} trans={trans} />
          <AddFolder {...{ model, trans, folderNow, pickFolder }} />
          <Models model={model} trans={trans} />
          <Store model={model} trans={trans} />
        </>
      )}
      {!status && !model.problem && <p className="jp-Memory-dim">{trans.__('Asking the server…')}</p>}
    </div>
  );
}

function Problem({ model, trans }: IIndexOptions): React.JSX.Element {
  return (
    <p className="jp-Memory-refusal" role="alert">
      {model.problem?.message}{' '}
      <button className="jp-Memory-link" onClick={() => void model.refresh()}>
        {trans.__('Try again')}
      </button>
    </p>
  );
}
