/** The section of the panel that shows what is indexed, indexes more, and looks after the store. */

import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { IndexModel } from '../../models/indexModel';
import { Section } from '../section';
import { Refusal } from '../shared/errorMessage';
import { FocusKept } from '../shared/keepFocus';
import { AddFolder } from './addFolder';
import { Folders } from './folders';
import { Jobs } from './jobs';
import { Models } from './models';
import { Store } from './store';

export interface IIndexOptions {
  model: IndexModel;
  trans: TranslationBundle;
  /** The folder that Lab's file browser shows, as a contents path. */
  folderNow?: () => string;
  /** Let a person pick a folder; null where they did not. */
  pickFolder?: () => Promise<string | null>;
}

/** Keeps its model up to date while it can be seen. */
export class IndexWidget extends Section<IndexModel> {
  constructor(private readonly _options: IIndexOptions) {
    super(_options.model, _options.trans, {
      className: 'jp-Memory-index',
      label: _options.trans.__('Index'),
      caption: _options.trans.__('What is indexed')
    });
    this.own.stateChanged.connect(this._retitle, this);
  }

  override dispose(): void {
    this.own.stateChanged.disconnect(this._retitle, this);
    super.dispose();
  }

  protected override render(): React.JSX.Element {
    return <Index {...this._options} />;
  }

  /** What is going on shows when the section is folded, too. */
  private _retitle(): void {
    const { own: model, trans } = this;
    const failed = model.jobs.reduce((all, job) => all + job.failed.length, 0);
    const told = model.isIndexing ? trans.__('indexing…') : failed ? trans.__('%1 failed', failed) : '';
    const label = trans.__('Index');
    this.title.label = told ? `${label} · ${told}` : label;
  }
}

export function Index({ model, trans, folderNow, pickFolder }: IIndexOptions): React.JSX.Element {
  const { status } = model;
  const body = React.useRef<HTMLDivElement>(null);
  return (
    <div className="jp-Memory-indexBody" ref={body} tabIndex={-1}>
      <FocusKept refuge={() => body.current?.focus({ preventScroll: true })}>
        {model.problem && (
          <Refusal
            {...{ problem: model.problem, trans }}
            act={{ label: trans.__('Try again'), run: () => void model.refresh() }}
          />
        )}
        {model.refusal && model.refusal.reason !== model.problem?.reason && (
          <Refusal
            {...{ problem: model.refusal, trans }}
            act={{ label: trans.__('Dismiss'), run: () => model.dismissRefusal() }}
          />
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
      </FocusKept>
    </div>
  );
}
