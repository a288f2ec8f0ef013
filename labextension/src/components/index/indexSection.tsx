/** The section of the panel that shows what is indexed, indexes more, and looks after the store. */

import React from 'react';

import type { IndexModel } from '../../models/indexModel';
import type { ISection } from '../../tokens';
import { ErrorMessage, type IProps, KeepFocus } from '../shared/elements';
import { bytes, count } from '../shared/format';
import { kept } from '../shared/labels';
import { withMarks } from '../shared/text';
import { AddFolder, Folders, Jobs } from './folders';
import { Models } from './models';

export interface IIndexOptions extends IProps<IndexModel> {
  /** The folder that Lab's file browser shows, as a contents path. */
  folderNow?: () => string;
  /** Let a person pick a folder; null if they cancel. */
  pickFolder?: () => Promise<string | null>;
}

export function indexSection(options: IIndexOptions): ISection {
  const { model, trans } = options;
  return {
    id: 'index',
    rank: 300,
    // The state of indexing is visible while the section is folded, too.
    label: () => {
      const failed = model.jobs.reduce((all, job) => all + job.failed.length, 0);
      const isIndexing = model.progress.phase === 'indexing';
      const isBusy = isIndexing ? trans.__('indexing…') : model.isIndexing && trans.__('changing the model…');
      const state = isBusy || (failed && trans.__('%1 failed', failed));
      return [trans.__('Index'), state].filter(Boolean).join(' · ');
    },
    caption: trans.__('What is indexed'),
    className: 'jp-Memory-index',
    model,
    render: () => <Index {...options} />
  };
}

export function Index(options: IIndexOptions): React.JSX.Element {
  const { model, trans } = options;
  const { status } = model;
  const body = React.useRef<HTMLDivElement>(null);
  return (
    <div className="jp-Memory-indexBody" ref={body} tabIndex={-1}>
      <KeepFocus fallback={() => body.current?.focus({ preventScroll: true })}>
        {model.problem && (
          <ErrorMessage
            {...{ problem: model.problem, trans }}
            act={{ label: trans.__('Try again'), run: () => void model.refresh() }}
          />
        )}
        {model.refusal && model.refusal.reason !== model.problem?.reason && (
          <ErrorMessage
            {...{ problem: model.refusal, trans }}
            act={{ label: trans.__('Dismiss'), run: () => model.dismissRefusal() }}
          />
        )}
        {status?.notices.map(notice => (
          <p key={notice} className="jp-Memory-remark">
            {withMarks(notice)}
          </p>
        ))}
        {status && (
          <>
            <Jobs model={model} trans={trans} />
            <Folders model={model} trans={trans} />
            <AddFolder {...options} />
            <Models model={model} trans={trans} />
            <Store model={model} trans={trans} />
          </>
        )}
        {!status && !model.problem && <p className="jp-Memory-dim">{trans.__('Asking the server…')}</p>}
      </KeepFocus>
    </div>
  );
}

export function Store({ model, trans }: IProps<IndexModel>): React.JSX.Element | null {
  const { findings } = model;
  const { store, history } = model.status ?? {};
  const isAsking = model.isPending('doctor');
  if (!store) {
    return null;
  }
  return (
    <section aria-labelledby="jp-Memory-storeTitle">
      <h4 id="jp-Memory-storeTitle">{trans.__('Store')}</h4>
      <dl className="jp-Memory-facts">
        <dt>{trans.__('File')}</dt>
        <dd className="jp-Memory-file">
          <bdi dir="ltr">{withMarks(store.path)}</bdi>
        </dd>
        <dt>{trans.__('Memories')}</dt>
        <dd className="jp-Memory-number">{count(store.memories)}</dd>
        <dt>{trans.__('Files')}</dt>
        <dd className="jp-Memory-number">{count(store.files)}</dd>
        {history && history.runs > 0 && (
          <>
            <dt>{trans.__('History')}</dt>
            <dd>{kept(history.runs, history.since, trans)}</dd>
          </>
        )}
        <dt>{trans.__('Size')}</dt>
        <dd className="jp-Memory-number">{bytes(store.bytes)}</dd>
        <dt>{trans.__('Version')}</dt>
        <dd>{model.status?.version}</dd>
      </dl>
      {!store.exists && (
        <p className="jp-Memory-dim">{trans.__('The file is created when the first folder is indexed.')}</p>
      )}
      {store.read_only && <p className="jp-Memory-warning">{trans.__('The store is read-only.')}</p>}
      <div className="jp-Memory-doctor">
        <button
          className="jp-Memory-button"
          aria-disabled={isAsking}
          disabled={!store.exists}
          onClick={() => !isAsking && void model.runDoctor()}
        >
          {isAsking ? trans.__('Checking…') : trans.__('Check the store')}
        </button>
        <div role="status">
          {findings?.length === 0 && trans.__('No problem found.')}
          {!!findings?.length && trans._n('%1 problem found:', '%1 problems found:', findings.length)}
        </div>
        {!!findings?.length && (
          <ul>
            {findings.map(one => (
              <li key={one}>{withMarks(one)}</li>
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}
