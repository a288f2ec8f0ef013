/** The section of the panel that shows what is indexed, indexes more, and looks after the model and the store. */

import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { IJob, IModel } from '../../api/types';
import { type IndexModel, isActive } from '../../models/indexModel';
import type { ISection } from '../../tokens';
import { ErrorMessage, type IProps, KeepFocus, Sure, TextButton } from '../shared/elements';
import { bytes, count } from '../shared/format';
import { kept } from '../shared/labels';
import { withMarks } from '../shared/text';
import { ActiveJob, AddFolder, Folders, Jobs } from './folders';

export interface IIndexOptions extends IProps<IndexModel> {
  /** The folder that Lab's file browser shows, as a contents path. */
  folderNow(): string;
  /** Let a person pick a folder; null if they cancel. */
  pickFolder(): Promise<string | null>;
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

/** The model of the store: which one is in use, and others, fetched once a person has agreed to their size and licence. */
function Models({ model, trans }: IProps<IndexModel>): React.JSX.Element {
  const { models, status, modelJob } = model;
  const active = models?.find(one => one.active);
  return (
    <section aria-labelledby="jp-Memory-modelTitle">
      <h4 id="jp-Memory-modelTitle">{trans.__('Model')}</h4>
      <div className="jp-Memory-model">
        <strong>{active?.name ?? status?.model ?? trans.__('none: searches match words only, not meaning')}</strong>
        {active && <div className="jp-Memory-dim">{active.title}</div>}
        {active && <div className="jp-Memory-dim">{facts(active, trans)}</div>}
      </div>
      {modelJob && <Change job={modelJob} model={model} trans={trans} />}
      <ul className="jp-Memory-models">
        {models
          ?.filter(one => !one.active)
          .map(one => (
            <Other key={one.name} one={one} model={model} trans={trans} />
          ))}
      </ul>
    </section>
  );
}

function facts({ dimensions, bytes: size, ...one }: IModel, trans: TranslationBundle): string {
  const vectors = dimensions === null ? '' : trans.__('%1 dimensions', count(dimensions));
  const disk = size === null ? '' : trans.__('%1 on disk', bytes(size));
  return [one.state, vectors, disk, one.languages, one.licence].filter(Boolean).join(' · ');
}

function Other({ one, model, trans }: IProps<IndexModel> & { one: IModel }): React.JSX.Element {
  const [isAsking, setAsking] = React.useState(false);
  const button = React.useRef<HTMLButtonElement>(null);
  // Not `disabled`, which would take the focus away.
  const isBusy = model.isPending('model') || (model.modelJob !== null && isActive(model.modelJob));
  const isShut = isBusy || model.status?.store.read_only;
  return (
    <li>
      <strong>{one.name}</strong>
      <div className="jp-Memory-dim">
        {one.title} · {facts(one, trans)}
      </div>
      {one.problem && <div className="jp-Memory-dim">{withMarks(one.problem)}</div>}
      <KeepFocus fallback={() => button.current?.focus()}>
        {isAsking ? (
          <Sure
            label={trans.__('Fetch %1?', one.name)}
            no={trans.__('Not now')}
            yes={trans.__('Fetch')}
            look="jp-mod-accept"
            onYes={() => void model.useModel(one).then(() => setAsking(false))}
            onNo={() => setAsking(false)}
          >
            {trans.__('Fetch %1 from %2? The licence is %3.', bytes(one.download), one.origin, one.licence)}{' '}
            {one.needs.length > 0 && `${trans.__('This includes what it needs here: %1.', one.needs.join(', '))} `}
            {trans.__(
              'Then the vectors of your cells and notes are computed anew, in the background. You can stop it at any time.'
            )}
          </Sure>
        ) : (
          !one.problem && (
            <button
              className="jp-Memory-button"
              ref={button}
              aria-disabled={isShut}
              aria-label={one.download ? trans.__('Fetch %1…', one.name) : trans.__('Use %1', one.name)}
              onClick={() => !isShut && (one.download ? setAsking(true) : void model.useModel(one))}
            >
              {one.download ? trans.__('Fetch it (%1)…', bytes(one.download)) : trans.__('Use it')}
            </button>
          )
        )}
      </KeepFocus>
    </li>
  );
}

function Change({ job, model, trans }: IProps<IndexModel> & { job: IJob }): React.JSX.Element {
  const { done, total, summary } = job;
  const label = stepName(job, trans);
  const counted = (all: number): string =>
    summary === 'fetching'
      ? trans.__('%1 of %2', bytes(done), bytes(all))
      : trans.__('%1 of %2 vectors', count(done), count(all));
  const about = {
    label,
    stop: trans.__('Cancel the change to %1', job.model),
    line: <span role="status">{label}</span>
  };
  return (
    <div className="jp-Memory-job">
      {isActive(job) ? (
        <ActiveJob {...{ job, model, trans, ...about }} tally={total === null ? '' : counted(total)} />
      ) : (
        <div className="jp-Memory-jobLine">
          <span role="status" className={job.state === 'failed' ? 'jp-Memory-warning' : ''}>
            {withMarks(summary)}
          </span>
          <TextButton look="link" label={trans.__('Dismiss')} run={() => model.dismiss(job.job_id)} />
        </div>
      )}
    </div>
  );
}

function stepName({ model, summary, state }: IJob, trans: TranslationBundle): string {
  const steps: Record<string, string> = {
    installing: trans.__('Installing what %1 needs', model),
    fetching: trans.__('Fetching %1', model),
    embedding: trans.__('Computing vectors with %1', model)
  };
  return state === 'waiting' ? trans.__('Waiting: %1', model) : (steps[summary] ?? trans.__('Preparing %1', model));
}
