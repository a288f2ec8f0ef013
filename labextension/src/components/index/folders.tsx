/** The jobs that index, with the files that failed, and the indexed folders: what changed, and whether they are watched. */

import { Time } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { IFolder, IJob } from '../../api/types';
import { type IndexModel, isActive } from '../../models/indexModel';
import { type IProps, KeepFocus, Sure, TextButton } from '../shared/elements';
import { count } from '../shared/format';
import { withMarks } from '../shared/text';
import type { IIndexOptions } from './indexSection';

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
          {endText(job, isLost, name, trans)}
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

/** How a job ended; `isLost` if the server stopped before. */
export function endText(job: IJob, isLost: boolean, name: string, trans: TranslationBundle): string {
  const summary = withMarks(job.summary);
  if (isLost) {
    return trans.__('Indexing %1 was interrupted: the server stopped. Files already indexed are kept.', name);
  }
  return job.state === 'failed'
    ? trans.__('%1 could not be indexed. %2', name, summary)
    : trans.__('%1: %2', name, summary);
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

export function Folders({ model, trans }: IProps<IndexModel>): React.JSX.Element {
  return (
    <section aria-labelledby="jp-Memory-foldersTitle">
      <header>
        <h4 id="jp-Memory-foldersTitle">{trans.__('Folders')}</h4>
        {!!model.folders.length && (
          <button
            className="jp-Memory-link"
            aria-disabled={model.isPending('changes')}
            onClick={() => !model.isPending('changes') && void model.countChanges()}
          >
            {model.isPending('changes') ? trans.__('Looking…') : trans.__('Look for changes')}
          </button>
        )}
      </header>
      {!model.folders.length && <p className="jp-Memory-dim">{trans.__('No folder is indexed yet. Add one below.')}</p>}
      <ul className="jp-Memory-folders">
        {model.folders.map(folder => (
          <Folder key={folder.path} folder={folder} model={model} trans={trans} />
        ))}
      </ul>
    </section>
  );
}

function Folder({ folder, model, trans }: IProps<IndexModel> & { folder: IFolder }): React.JSX.Element {
  const [isLeaving, setLeaving] = React.useState(false);
  const leave = React.useRef<HTMLButtonElement>(null);
  const name = withMarks(shortName(folder.path, model.status?.root ?? '')) || trans.__('All files of this Lab');
  const indexed = folder.indexed_at && new Date(folder.indexed_at);
  const isBusy = model.isPending('folder');
  return (
    <li className="jp-Memory-folder">
      <div className="jp-Memory-folderName" title={withMarks(folder.path)}>
        <bdi>{name}</bdi>
      </div>
      <div className="jp-Memory-dim">
        {trans.__(
          '%1 in %2',
          trans._n('%2 memory', '%2 memories', folder.memories, count(folder.memories)),
          trans._n('%2 file', '%2 files', folder.files, count(folder.files))
        )}
        {indexed && (
          <>
            {' · '}
            <time dateTime={folder.indexed_at!} title={Time.format(indexed)}>
              {Time.formatHuman(indexed)}
            </time>
          </>
        )}
      </div>
      <Changes folder={folder} model={model} trans={trans} />
      <KeepFocus fallback={() => leave.current?.focus()}>
        <div className="jp-Memory-folderActs">
          <label title={trans.__('Index changes made in Lab at once')}>
            <input
              type="checkbox"
              aria-label={trans.__('Watched: %1', name)}
              checked={folder.watched}
              onChange={event => void model.watch(folder.path, event.target.checked)}
            />
            {trans.__('Watched')}
          </label>
          {!isLeaving && (
            <button
              className="jp-Memory-link"
              ref={leave}
              aria-label={trans.__('Remove %1', name)}
              onClick={() => setLeaving(true)}
            >
              {trans.__('Remove')}
            </button>
          )}
        </div>
        {isLeaving && (
          <Sure
            label={trans.__('Remove this folder?')}
            no={trans.__('Keep')}
            yes={isBusy ? trans.__('Forgetting…') : trans.__('Forget')}
            look="jp-mod-warn"
            isBusy={isBusy}
            onYes={() => void model.remove(folder).then(() => setLeaving(false))}
            onNo={() => setLeaving(false)}
          >
            {trans._n(
              'Forget its %2 memory? The files stay.',
              'Forget its %2 memories? The files stay.',
              folder.memories,
              count(folder.memories)
            )}
          </Sure>
        )}
      </KeepFocus>
    </li>
  );
}

function Changes({ folder, model, trans }: IProps<IndexModel> & { folder: IFolder }): React.JSX.Element | null {
  const isBusy = model.jobs.some(job => job.path === folder.path && isActive(job));
  if (!folder.exists) {
    return <div className="jp-Memory-warning">{trans.__('The folder is gone: moved, renamed or not mounted.')}</div>;
  }
  if (isBusy || folder.changed === null) {
    return null;
  }
  if (!folder.changed) {
    return <div className="jp-Memory-dim">{trans.__('Up to date')}</div>;
  }
  return (
    <div className="jp-Memory-changes">
      {trans._n('%2 file changed, new or gone', '%2 files changed, new or gone', folder.changed, count(folder.changed))}
      {' · '}
      <TextButton look="link" label={trans.__('Index now')} run={() => void model.index(folder.path)} />
    </div>
  );
}

/** A path relative to Lab's root, '' for the root itself; a path outside of it stays absolute. */
export function shortName(path: string, root: string): string {
  const top = root.replace(/[\\/]+$/, '');
  if (root && path.replace(/[\\/]+$/, '') === top) {
    return '';
  }
  const isBelow = root && (path.startsWith(`${top}/`) || path.startsWith(`${top}\\`));
  return isBelow ? path.slice(top.length + 1) : path;
}

export function AddFolder({ model, trans, folderNow, pickFolder }: IIndexOptions): React.JSX.Element {
  const [typed, setTyped] = React.useState<string | null>(null);
  const [isWatched, setWatched] = React.useState(true);
  const path = typed ?? folderNow();
  const add = async (event: React.FormEvent): Promise<void> => {
    event.preventDefault();
    if (!model.isPending('index') && (await model.index(path.trim(), isWatched))) {
      setTyped(null);
    }
  };
  const pick = async (): Promise<void> => setTyped((await pickFolder()) ?? typed);
  return (
    <form className="jp-Memory-form" aria-label={trans.__('Index a folder')} onSubmit={event => void add(event)}>
      <label>
        {trans.__('Index a folder or a file:')}
        <input
          className="jp-mod-styled"
          dir="auto"
          value={path}
          placeholder={model.status?.root || trans.__('an absolute path')}
          onChange={event => setTyped(event.target.value)}
          spellCheck={false}
          autoComplete="off"
        />
      </label>
      <div className="jp-Memory-formActs">
        <label>
          <input type="checkbox" checked={isWatched} onChange={event => setWatched(event.target.checked)} />
          {trans.__('Watch it')}
        </label>
        <span className="jp-Memory-space" />
        <button className="jp-Memory-button" type="button" onClick={() => void pick()}>
          {trans.__('Browse…')}
        </button>
        <button
          className="jp-Memory-button jp-mod-accept"
          type="submit"
          aria-disabled={model.isPending('index')}
          disabled={model.status?.store.read_only}
        >
          {trans.__('Index')}
        </button>
      </div>
    </form>
  );
}
