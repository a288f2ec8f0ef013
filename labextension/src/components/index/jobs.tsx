/** The indexing jobs, active and finished: their progress, and the files that failed. */

import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { IJob } from '../../api/types';
import { type IndexModel, isActive } from '../../models/indexModel';
import { type IProps, TextButton } from '../shared/elements';
import { count } from '../shared/format';
import { withMarks } from '../shared/text';
import { shortName } from './folders';

export function Jobs({ model, trans }: IProps<IndexModel>): React.JSX.Element | null {
  if (!model.jobs.length) {
    return null;
  }
  return (
    <section aria-label={trans.__('Indexing')}>
      <ul className="jp-Memory-jobs">
        {model.jobs.map(job => (
          <li key={job.job_id} className="jp-Memory-job" data-state={job.state}>
            {isActive(job) ? <IndexingJob {...{ job, model, trans }} /> : <FinishedJob {...{ job, model, trans }} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

function IndexingJob({ job, model, trans }: IProps<IndexModel> & { job: IJob }): React.JSX.Element {
  const name = nameOf(job, model, trans);
  const label = trans.__('Indexing %1', name);
  const tally =
    job.total === null ? trans.__('looking for files…') : trans.__('%1 of %2 files', count(job.done), count(job.total));
  const line = job.state === 'waiting' ? trans.__('Waiting: %1', name) : label;
  return <ActiveJob {...{ job, model, trans, label, tally, line }} stop={trans.__('Cancel indexing %1', name)} />;
}

interface IActiveJobProps extends IProps<IndexModel> {
  job: IJob;
  line: React.ReactNode;
  /** What a screen reader calls its progress, and the button that ends it. */
  label: string;
  stop: string;
  tally: string;
}

/** A job that waits or runs, of files or of vectors. */
export function ActiveJob({ job, model, trans, line, label, stop, tally }: IActiveJobProps): React.JSX.Element {
  // Not `disabled`, which would take the focus away.
  const isAsked = model.isPending('cancel') || model.isStopping(job);
  return (
    <>
      <div className="jp-Memory-jobLine">
        <span>{line}</span>
        <button
          className="jp-Memory-link"
          aria-disabled={isAsked}
          aria-label={stop}
          onClick={() => !isAsked && void model.cancel(job.job_id)}
        >
          {model.isStopping(job) ? trans.__('Stopping…') : trans.__('Cancel')}
        </button>
      </div>
      {job.state === 'running' && (
        <div className="jp-Memory-jobLine">
          {/* Without a value it is indeterminate: nothing is counted yet. */}
          <progress aria-label={label} max={job.total || 1} value={job.total === null ? undefined : job.done} />
          <span className="jp-Memory-dim jp-Memory-number">{tally}</span>
        </div>
      )}
    </>
  );
}

function FinishedJob({ job, model, trans }: IProps<IndexModel> & { job: IJob }): React.JSX.Element {
  const name = nameOf(job, model, trans);
  const isLost = model.isInterrupted(job);
  return (
    <>
      <div className="jp-Memory-jobLine">
        <span role="status" className={job.state === 'failed' || isLost ? 'jp-Memory-warning' : ''}>
          {isLost ? interruptedText(name, trans) : finishedText(job, name, trans)}
        </span>
        {isLost && <TextButton look="link" label={trans.__('Index again')} run={() => void model.index(job.path)} />}
        <button
          className="jp-Memory-link"
          aria-label={trans.__('Dismiss the message about %1', name)}
          onClick={() => model.dismiss(job.job_id)}
        >
          {trans.__('Dismiss')}
        </button>
      </div>
      <Reasons summary={trans.__('%1 failed', count(job.failed.length))} pairs={job.failed} model={model} />
      <Reasons summary={trans.__('%1 skipped', count(job.skipped.length))} pairs={job.skipped} model={model} />
    </>
  );
}

export function interruptedText(name: string, trans: TranslationBundle): string {
  return trans.__('Indexing %1 was interrupted: the server stopped. Files already indexed are kept.', name);
}

function finishedText(job: IJob, name: string, trans: TranslationBundle): string {
  const summary = withMarks(job.summary);
  switch (job.state) {
    case 'failed':
      return trans.__('%1 could not be indexed. %2', name, summary);
    case 'cancelled':
      return trans.__('%1: stopped. %2', name, summary);
    default:
      return trans.__('%1: %2', name, summary);
  }
}

function Reasons(props: { summary: string; pairs: [string, string][]; model: IndexModel }): React.JSX.Element | null {
  const { summary, pairs, model } = props;
  if (!pairs.length) {
    return null;
  }
  return (
    <details>
      <summary>{summary}</summary>
      <dl className="jp-Memory-failures">
        {pairs.map(([path, reason]) => (
          <div key={path}>
            <dt title={withMarks(path)} dir="auto">
              {withMarks(shortName(path, model.status?.root ?? ''))}
            </dt>
            <dd>{withMarks(reason)}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function nameOf(job: IJob, model: IndexModel, trans: TranslationBundle): string {
  return withMarks(shortName(job.path, model.status?.root ?? '')) || trans.__('all files of this Lab');
}
