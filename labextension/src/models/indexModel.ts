/** What is indexed, and the progress of indexing: the status is the truth, events update the counts in between. */

import type { Event } from '@jupyterlab/services';
import { VDomModel } from '@jupyterlab/ui-components';
import { JSONExt, PromiseDelegate, type ReadonlyJSONValue } from '@lumino/coreutils';
import { Poll } from '@lumino/polling';

import { ApiError, type IFolderChange, type MemoryApi, MISSING, UNREACHABLE } from '../api/memoryApi';
import { RequestState } from '../api/requestState';
import type { IFolder, IJob, IModel, IStatus } from '../api/types';

export const INDEX_EVENTS = 'https://jupyter-memory.readthedocs.io/events/index/v1';

/** Milliseconds between two polls while something is indexed, and while nothing is. */
const BUSY_INTERVAL = 1_000;
const IDLE_INTERVAL = 30_000;

/** When the server does not answer: retry after a second, then after twice as long each time, up to a minute. */
const MAX_RETRY_INTERVAL = 60_000;
const BACKOFF = { backoff: true, max: 300_000 };

export type IndexApi = Pick<
  MemoryApi,
  'status' | 'index' | 'cancelJob' | 'folders' | 'setFolder' | 'models' | 'doctor'
>;

type RequestName = 'index' | 'cancel' | 'folder' | 'changes' | 'models' | 'doctor';

export interface IIndexModelOptions {
  api: IndexApi;
  /** Lab's event bus: `app.serviceManager.events`. Without it the counts come from polling only. */
  events?: Event.IManager;
}

/** The state of the index. `stateChanged` is emitted for real changes only. */
export class IndexModel extends VDomModel {
  constructor({ api, events }: IIndexModelOptions) {
    super();
    this._api = api;
    this._events = events;
    this._poll = new Poll({
      auto: false,
      name: 'jupyter-memory:status',
      factory: () => this._fetchStatus(),
      frequency: { interval: IDLE_INTERVAL, ...BACKOFF },
      // While nobody looks and nothing runs, the server is not polled.
      standby: () => (this._isOpen || this.isIndexing || this._isRequested || this._nextStatus ? 'when-hidden' : true)
    });
    events?.stream.connect(this._onEvent, this);
  }

  get status(): IStatus | null {
    return this._status;
  }

  /** Why there is no status, or null. */
  get problem(): ApiError | null {
    return this._problem;
  }

  get refusal(): ApiError | null {
    return this._requests.refusal;
  }

  /** The indexed folders, with the number of changed files where it is known. */
  get folders(): IFolder[] {
    return (this._status?.folders ?? []).map(one => ({ ...one, changed: this._changedFiles(one) }));
  }

  /** The newest job of each path. A finished one stays until it is dismissed. */
  get jobs(): IJob[] {
    return this._jobs.shown;
  }

  get isIndexing(): boolean {
    return this._jobs.isIndexing;
  }

  get progress(): IProgress {
    return this._jobs.progress;
  }

  /** The named embedding models; null until they are loaded. */
  get models(): IModel[] | null {
    return this._models;
  }

  /** The doctor's findings; null until it has run. */
  get findings(): string[] | null {
    return this._findings;
  }

  /** Whether a request is running: its buttons wait. */
  isPending(what: RequestName): boolean {
    return this._requests.isPending(what);
  }

  /** Whether the section can be seen: then it is kept up to date. */
  get isOpen(): boolean {
    return this._isOpen;
  }
  set isOpen(open: boolean) {
    if (open === this._isOpen) {
      return;
    }
    this._isOpen = open;
    if (open) {
      this._isUncounted = true;
      void this.refresh();
      void this.loadModels();
    }
  }

  async refresh(): Promise<void> {
    this._isRequested = true;
    await this._poll.refresh();
  }

  /** Resolves when the next status arrives; until then the server is polled. */
  nextStatus(): Promise<void> {
    this._nextStatus ??= new PromiseDelegate();
    void this.refresh();
    return this._nextStatus.promise;
  }

  /** Index a contents path or an absolute one; `''` is Lab's root. It never rejects: see `refusal`. */
  async index(path: string, watch?: boolean): Promise<IJob | null> {
    const job = await this._requests.ask('index', () => this._api.index(path, watch));
    if (job) {
      this._jobs.begin(job);
      this._refreshAfterChange();
    }
    return job;
  }

  /** Cancel a job: it finishes the file it is reading. */
  async cancel(job_id: string): Promise<void> {
    const job = await this._requests.ask('cancel', () => this._api.cancelJob(job_id));
    if (job) {
      this._jobs.stop(job);
      this._refreshAfterChange();
    }
  }

  isInterrupted(job: IJob): boolean {
    return this._jobs.isInterrupted(job);
  }

  isStopping(job: IJob): boolean {
    return this._jobs.isStopping(job);
  }

  dismiss(job_id: string): void {
    this._jobs.dismiss(job_id);
    this._emit();
  }

  watch(path: string, watched: boolean): Promise<void> {
    return this._setFolder({ path, watched });
  }

  /** Forget a folder with as many memories as a person was told that it holds. */
  remove({ path, memories }: Pick<IFolder, 'path' | 'memories'>): Promise<void> {
    return this._setFolder({ path, remove: true, count: memories });
  }

  async countChanges(): Promise<void> {
    const folders = await this._requests.read('changes', () => this._api.folders());
    if (folders) {
      this._counted = new Map(folders.map(one => [one.path, { at: one.indexed_at, changed: one.changed }]));
      this._emit();
    }
  }

  async loadModels(): Promise<void> {
    this._models = (await this._requests.read('models', () => this._api.models())) ?? this._models;
    this._emit();
  }

  async runDoctor(): Promise<void> {
    this._findings = (await this._requests.ask('doctor', () => this._api.doctor())) ?? this._findings;
    this._emit();
  }

  dismissRefusal(): void {
    this._requests.dismiss();
  }

  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    this._events?.stream.disconnect(this._onEvent, this);
    this._poll.dispose();
    super.dispose();
  }

  private async _fetchStatus(): Promise<void> {
    const version = ++this._version;
    this._isRequested = false;
    try {
      const status = await this._api.status();
      if (version === this._version && !this.isDisposed) {
        this._takeStatus(status);
      }
    } catch (error) {
      if (error instanceof ApiError && version === this._version && !this.isDisposed) {
        this._setProblem(error);
      }
      // Lumino would wait for a random time after an error; `_setProblem` has set the interval instead.
      if (!(error instanceof ApiError && error.reason === UNREACHABLE)) {
        throw error;
      }
    }
  }

  /** Read the status after a change. One that is still on its way is older than the change, and ignored. */
  private _refreshAfterChange(): void {
    this._version++;
    this._emit();
    void this.refresh();
  }

  private _setProblem(problem: ApiError): void {
    const isNew = this._problem?.reason !== problem.reason;
    this._problem = problem;
    if (problem.reason === MISSING) {
      // Waiting does not help: `refresh` starts the poll again.
      void this._poll.stop();
    } else if (problem.reason === UNREACHABLE) {
      this._poll.frequency = {
        interval: Math.min(BUSY_INTERVAL * 2 ** this._failures++, MAX_RETRY_INTERVAL),
        backoff: false,
        max: MAX_RETRY_INTERVAL
      };
    }
    if (isNew) {
      this._emit();
    }
  }

  private _takeStatus(status: IStatus): void {
    const { isIndexing: wasIndexing, _problem: problem, _status: before } = this;
    const isOld = !this._jobs.take(status.jobs) && same(status, before) && !problem;
    this._problem = null;
    if (problem && problem.reason === this.refusal?.reason) {
      this._requests.dismiss();
    }
    this._status = status;
    if (!isOld) {
      this._emit();
    }
    this._poll.frequency = { interval: this.isIndexing ? BUSY_INTERVAL : IDLE_INTERVAL, ...BACKOFF };
    this._failures = 0;
    this._nextStatus?.resolve();
    this._nextStatus = null;
    this._isUncounted ||= wasIndexing && !this.isIndexing;
    if (this._isOpen && this._isUncounted && status.folders.length) {
      this._isUncounted = false;
      void this.countChanges();
    }
    const isOther = before !== null && before.model !== status.model;
    if (this._isOpen && (isOther || (problem && !this._models))) {
      void this.loadModels();
    }
  }

  private _onEvent(_: unknown, event: Event.Emission): void {
    if (event.schema_id !== INDEX_EVENTS) {
      return;
    }
    if (this._jobs.count(event as unknown as IJobEvent)) {
      this._emit();
    } else {
      // A job started or ended: only the status has its name and result.
      void this.refresh();
    }
  }

  private async _setFolder(asked: IFolderChange): Promise<void> {
    const folders = await this._requests.ask('folder', () => this._api.setFolder(asked));
    if (folders && this._status) {
      this._status = { ...this._status, folders };
    }
    // Also where the server refused: the numbers may be old.
    this._refreshAfterChange();
  }

  private _changedFiles(folder: IFolder): number | null {
    const counted = this._counted.get(folder.path);
    return counted && counted.at === folder.indexed_at ? counted.changed : folder.changed;
  }

  private _emit(): void {
    if (!this.isDisposed) {
      this.stateChanged.emit();
    }
  }

  private readonly _api: IndexApi;
  private readonly _events: Event.IManager | undefined;
  private readonly _poll: Poll<void, unknown>;
  private readonly _requests = new RequestState<RequestName>(() => this._emit());
  private readonly _jobs = new JobList();
  private _nextStatus: PromiseDelegate<void> | null = null;
  private _counted = new Map<string, { at: string | null; changed: number | null }>();
  private _findings: string[] | null = null;
  private _isOpen = false;
  /** Somebody requested a status, whether the section can be seen or not. */
  private _isRequested = false;
  /** Count the changed files after the next status. */
  private _isUncounted = false;
  private _failures = 0;
  private _models: IModel[] | null = null;
  private _problem: ApiError | null = null;
  private _status: IStatus | null = null;
  private _version = 0;
}

function same(a: unknown, b: unknown): boolean {
  return JSONExt.deepEqual(a as ReadonlyJSONValue, b as ReadonlyJSONValue);
}

/** An event about the progress of a job. */
export interface IJobEvent {
  job_id: string;
  phase: IJob['state'];
  done: number;
  total: number | null;
}

export interface IProgress {
  phase: 'idle' | 'indexing';
  done: number;
  total: number | null;
}

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

  begin(job: IJob): void {
    this._jobs = [job, ...this._jobs.filter(one => one.job_id !== job.job_id)];
  }

  /** A job was asked to stop: it finishes the file it is reading. */
  stop(job: IJob): void {
    this._stopped.add(job.job_id);
    this._replace(job);
  }

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
