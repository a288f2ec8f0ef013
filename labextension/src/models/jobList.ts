/** The jobs of the indexer: as the status tells them, counted on by events, until a person has read how they ended. */

import { JSONExt, type ReadonlyJSONValue } from '@lumino/coreutils';

import type { IJob } from '../api/types';

/** What an event tells of a job. */
export interface IJobEvent {
  job_id: string;
  phase: IJob['state'];
  done: number;
  total: number | null;
}

/** How far an indexing is, for the status bar. */
export interface IProgress {
  phase: 'idle' | 'indexing';
  done: number;
  total: number | null;
}

/** Whether a job waits or runs. */
export function isActive(job: IJob): boolean {
  return job.state === 'waiting' || job.state === 'running';
}

/** Jobs, newest first. */
export class JobList {
  /** The newest job of each path, one that is over until it is dismissed. */
  get shown(): IJob[] {
    const newest = this._jobs.filter((job, i) => this._jobs.findIndex(one => one.path === job.path) === i);
    return newest.filter(job => !this._dismissed.has(job.job_id));
  }

  get isIndexing(): boolean {
    return this._jobs.some(isActive);
  }

  /** How far the job is that runs. */
  get progress(): IProgress {
    const job = this._jobs.find(one => one.state === 'running') ?? this._jobs.find(isActive);
    return job ? { phase: 'indexing', done: job.done, total: job.total } : { phase: 'idle', done: 0, total: null };
  }

  /** Take the jobs of a status; false where they are no news. */
  take(told: readonly IJob[]): boolean {
    if (!this._hasStatus) {
      // What went well before anybody looked is no news, but for what was begun here.
      told.filter(job => isSuccessful(job) && !this._find(job.job_id)).forEach(job => this._dismissed.add(job.job_id));
      this._hasStatus = true;
    }
    const before = this._jobs;
    this._jobs = [...told.map(job => this._withKnownCount(job)), ...this._interrupted(told)];
    return !JSONExt.deepEqual(before as unknown as ReadonlyJSONValue, this._jobs as unknown as ReadonlyJSONValue);
  }

  /** Take the counts of an event; false where only the status can tell what happened. */
  count({ job_id, phase, done, total }: IJobEvent): boolean {
    const known = this._find(job_id);
    if (known?.state !== phase) {
      return false;
    }
    this._replace({ ...known, done: Math.max(done, known.done), total });
    return true;
  }

  /** A job was begun here. */
  begin(job: IJob): void {
    this._jobs = [job, ...this._jobs.filter(one => one.job_id !== job.job_id)];
  }

  /** A job was asked to stop: it goes on until the file it is at is done. */
  stop(job: IJob): void {
    this._stopped.add(job.job_id);
    this._replace(job);
  }

  /** Whether the server stopped before a job was over. */
  isInterrupted(job: IJob): boolean {
    return this._interruptedIds.has(job.job_id);
  }

  isStopping(job: IJob): boolean {
    return isActive(job) && this._stopped.has(job.job_id);
  }

  /** How it ended was read. */
  dismiss(job_id: string): void {
    this._dismissed.add(job_id);
  }

  /** A server forgets what is over, but what goes on only when it stops: that ended then. */
  private _interrupted(told: readonly IJob[]): IJob[] {
    const left = this._jobs.filter(job => !told.some(one => one.job_id === job.job_id));
    left.filter(isActive).forEach(job => this._interruptedIds.add(job.job_id));
    return left.filter(job => this.isInterrupted(job)).map(job => ({ ...job, state: 'cancelled' }));
  }

  /** An event may have told more of a job than the status that was on its way: counts never go back. */
  private _withKnownCount(job: IJob): IJob {
    const known = this._find(job.job_id);
    return known && job.state === 'running' && known.done > job.done ? { ...job, done: known.done } : job;
  }

  private _find(job_id: string): IJob | undefined {
    return this._jobs.find(one => one.job_id === job_id);
  }

  private _replace(job: IJob): void {
    this._jobs = this._jobs.map(one => (one.job_id === job.job_id ? job : one));
  }

  private _jobs: readonly IJob[] = [];
  private _hasStatus = false;
  private readonly _dismissed = new Set<string>();
  private readonly _interruptedIds = new Set<string>();
  private readonly _stopped = new Set<string>();
}

function isSuccessful(job: IJob): boolean {
  return !isActive(job) && job.state !== 'failed' && !job.failed.length;
}
