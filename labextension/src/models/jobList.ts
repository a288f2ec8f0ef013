/** The indexing jobs: listed by the status, counted by events, and shown until a person dismisses their result. */

import { JSONExt, type ReadonlyJSONValue } from '@lumino/coreutils';

import type { IJob } from '../api/types';

/** An event about the progress of a job. */
export interface IJobEvent {
  job_id: string;
  phase: IJob['state'];
  done: number;
  total: number | null;
}

/** The progress of indexing, for the status bar. */
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
  /** The newest job of each path. A finished one stays until it is dismissed. */
  get shown(): IJob[] {
    const newest = this._jobs.filter((job, i) => this._jobs.findIndex(one => one.path === job.path) === i);
    return newest.filter(job => !this._dismissed.has(job.job_id));
  }

  get isIndexing(): boolean {
    return this._jobs.some(isActive);
  }

  /** The progress of the running job. */
  get progress(): IProgress {
    const job = this._jobs.find(one => one.state === 'running') ?? this._jobs.find(isActive);
    return job ? { phase: 'indexing', done: job.done, total: job.total } : { phase: 'idle', done: 0, total: null };
  }

  /** Take the jobs of a status. Returns false if nothing changed. */
  take(jobs: readonly IJob[]): boolean {
    if (!this._hasStatus) {
      // Jobs that succeeded before the panel was opened are not shown, except those that were started here.
      jobs.filter(job => isSuccessful(job) && !this._find(job.job_id)).forEach(job => this._dismissed.add(job.job_id));
      this._hasStatus = true;
    }
    const before = this._jobs;
    this._jobs = [...jobs.map(job => this._withKnownCount(job)), ...this._interrupted(jobs)];
    return !JSONExt.deepEqual(before as unknown as ReadonlyJSONValue, this._jobs as unknown as ReadonlyJSONValue);
  }

  /** Take the counts of an event. Returns false if only the status can say what happened. */
  count({ job_id, phase, done, total }: IJobEvent): boolean {
    const known = this._find(job_id);
    if (known?.state !== phase) {
      return false;
    }
    this._replace({ ...known, done: Math.max(done, known.done), total });
    return true;
  }

  /** A job was started here. */
  begin(job: IJob): void {
    this._jobs = [job, ...this._jobs.filter(one => one.job_id !== job.job_id)];
  }

  /** A job was asked to stop: it finishes the file it is reading. */
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

  /** The person has read how the job ended. */
  dismiss(job_id: string): void {
    this._dismissed.add(job_id);
  }

  /** A server drops finished jobs from its list, but an active one only when it stops: such a job was interrupted. */
  private _interrupted(jobs: readonly IJob[]): IJob[] {
    const left = this._jobs.filter(job => !jobs.some(one => one.job_id === job.job_id));
    left.filter(isActive).forEach(job => this._interruptedIds.add(job.job_id));
    return left.filter(job => this.isInterrupted(job)).map(job => ({ ...job, state: 'cancelled' }));
  }

  /** An event may be newer than a status that was on its way: counts never go back. */
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
