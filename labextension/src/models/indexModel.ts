/** What is indexed, and the progress of indexing: the status is the truth, events update the counts in between. */

import type { Event } from '@jupyterlab/services';
import { VDomModel } from '@jupyterlab/ui-components';
import { JSONExt, PromiseDelegate, type ReadonlyJSONValue } from '@lumino/coreutils';
import { Poll } from '@lumino/polling';

import { type ApiError, type IFolderChange, type MemoryApi, MISSING, refusalOf, UNREACHABLE } from '../api/memoryApi';
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
  'status' | 'index' | 'cancelJob' | 'folders' | 'setFolder' | 'models' | 'useModel' | 'doctor'
>;

type RequestName = 'index' | 'cancel' | 'folder' | 'changes' | 'models' | 'model' | 'doctor';

interface IJobEvent extends Pick<IJob, 'job_id' | 'done' | 'total'> {
  phase: IJob['state'];
}

export interface IProgress {
  phase: 'idle' | 'indexing';
  done: number;
  total: number | null;
}

export function isActive(job: IJob): boolean {
  return job.state === 'waiting' || job.state === 'running';
}

/** The state of the index. `stateChanged` is emitted for real changes only. */
export class IndexModel extends VDomModel {
  /** Without Lab's event bus the counts come from polling only. */
  constructor({ api, events }: { api: IndexApi; events?: Event.IManager }) {
    super();
    this._api = api;
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

  // What follows is written here alone.
  status: IStatus | null = null;
  problem: ApiError | null = null;
  /** Why the server refused the last request, or null. */
  refusal: ApiError | null = null;
  /** The named embedding models; null until they are loaded. */
  models: IModel[] | null = null;
  /** The doctor's findings; null until it has run. */
  findings: string[] | null = null;

  get folders(): IFolder[] {
    return (this.status?.folders ?? []).map(folder => {
      const counted = this._counted.get(folder.path);
      return counted?.indexed_at === folder.indexed_at ? { ...folder, changed: counted.changed } : folder;
    });
  }

  /** The newest job of each path. A finished one stays until it is dismissed. */
  get jobs(): IJob[] {
    return this._newest.filter(job => !job.model);
  }

  get modelJob(): IJob | null {
    return this._newest.find(job => job.model) ?? null;
  }

  get isIndexing(): boolean {
    return this._jobs.some(isActive);
  }

  get progress(): IProgress {
    const jobs = this._jobs.filter(one => !one.model);
    const job = jobs.find(one => one.state === 'running') ?? jobs.find(isActive);
    return job ? { phase: 'indexing', done: job.done, total: job.total } : { phase: 'idle', done: 0, total: null };
  }

  /** Whether the server stopped before a job was over. */
  isInterrupted(job: IJob): boolean {
    return this._interrupted.has(job.job_id);
  }

  /** Whether a job was asked to stop: it finishes the file it is reading. */
  isStopping(job: IJob): boolean {
    return isActive(job) && this._stopped.has(job.job_id);
  }

  isPending(what: RequestName): boolean {
    return this._running.includes(what);
  }

  get isOpen(): boolean {
    return this._isOpen;
  }
  set isOpen(open: boolean) {
    const isNew = open && !this._isOpen;
    this._isOpen = open;
    if (isNew) {
      this._isUncounted = true;
      void this.refresh();
      void this._loadModels();
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
  index(path: string, watch?: boolean): Promise<IJob | null> {
    return this._begin('index', () => this._api.index(path, watch));
  }

  /** Change to a model; what it takes to fetch it was agreed to. */
  useModel({ name, download }: IModel): Promise<IJob | null> {
    return this._begin('model', () => this._api.useModel(name, download));
  }

  async cancel(job_id: string): Promise<void> {
    const job = await this._ask('cancel', () => this._api.cancelJob(job_id));
    if (job) {
      this._stopped.add(job_id);
      this._replace(job);
      this._refreshAfterChange();
    }
  }

  dismiss(job_id: string): void {
    this._dismissed.add(job_id);
    this.stateChanged.emit();
  }

  dismissRefusal(): void {
    this.refusal = null;
    this.stateChanged.emit();
  }

  watch(path: string, watched: boolean): Promise<void> {
    return this._setFolder({ path, watched });
  }

  /** Forget a folder with as many memories as a person was told that it holds. */
  remove({ path, memories }: Pick<IFolder, 'path' | 'memories'>): Promise<void> {
    return this._setFolder({ path, remove: true, count: memories });
  }

  /** Count the files that changed since they were indexed: the server walks the folders. */
  async countChanges(): Promise<void> {
    const folders = await this._read('changes', () => this._api.folders());
    if (folders) {
      this._counted = new Map(folders.map(one => [one.path, one]));
      this.stateChanged.emit();
    }
  }

  async runDoctor(): Promise<void> {
    this.findings = (await this._ask('doctor', () => this._api.doctor())) ?? this.findings;
    this.stateChanged.emit();
  }

  override dispose(): void {
    this._poll.dispose();
    super.dispose();
  }

  private async _begin(what: RequestName, task: () => Promise<IJob>): Promise<IJob | null> {
    const job = await this._ask(what, task);
    if (job) {
      this._jobs = [job, ...this._jobs.filter(one => one.job_id !== job.job_id)];
      this._refreshAfterChange();
    }
    return job;
  }

  private async _loadModels(): Promise<void> {
    this.models = (await this._read('models', () => this._api.models())) ?? this.models;
    this.stateChanged.emit();
  }

  private async _setFolder(asked: IFolderChange): Promise<void> {
    const folders = await this._ask('folder', () => this._api.setFolder(asked));
    if (folders && this.status) {
      this.status = { ...this.status, folders };
    }
    // Also where the server refused: the numbers may be old.
    this._refreshAfterChange();
  }

  /** Send a request for a person. Resolves to null where the server refuses; `refusal` says why. */
  private _ask<T>(what: RequestName, task: () => Promise<T>): Promise<T | null> {
    this.refusal = null;
    return this._read(what, task, null);
  }

  /** Read more data in the background: an earlier refusal stays, and a missing server is reported elsewhere. */
  private async _read<T>(
    what: RequestName,
    task: () => Promise<T>,
    unsaid: string | null = MISSING
  ): Promise<T | null> {
    this._running.push(what);
    this.stateChanged.emit();
    try {
      return await task();
    } catch (error) {
      const refusal = refusalOf(error);
      this.refusal = refusal.reason === unsaid ? this.refusal : refusal;
      return null;
    } finally {
      this._running.splice(this._running.indexOf(what), 1);
      this.stateChanged.emit();
    }
  }

  /** Read the status after a change. One that is still on its way is older than the change, and ignored. */
  private _refreshAfterChange(): void {
    this._version++;
    this.stateChanged.emit();
    void this.refresh();
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
      const problem = refusalOf(error);
      if (version === this._version && !this.isDisposed) {
        this._setProblem(problem);
      }
      // Lumino would wait for a random time after an error; `_setProblem` has set the interval instead.
      if (problem.reason !== UNREACHABLE) {
        throw error;
      }
    }
  }

  private _setProblem(problem: ApiError): void {
    const isNew = this.problem?.reason !== problem.reason;
    this.problem = problem;
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
      this.stateChanged.emit();
    }
  }

  private _takeStatus(status: IStatus): void {
    const { isIndexing: wasIndexing, problem, status: before, _jobs: jobs } = this;
    this._takeJobs(status.jobs);
    const isOld = same(this._jobs, jobs) && same(status, before) && !problem;
    this.problem = null;
    if (problem && problem.reason === this.refusal?.reason) {
      this.dismissRefusal();
    }
    this.status = status;
    if (!isOld) {
      this.stateChanged.emit();
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
    const isChanging = (all: readonly IJob[]): boolean => all.some(job => job.model && isActive(job));
    const wasChanged = isChanging(jobs) && !isChanging(this._jobs);
    if (this._isOpen && (isOther || wasChanged || (problem && !this.models))) {
      void this._loadModels();
    }
  }

  private _takeJobs(jobs: readonly IJob[]): void {
    if (!this._hasJobs) {
      // Jobs that succeeded before the panel was opened are not shown, except those that were started here.
      const isOver = (job: IJob): boolean => !isActive(job) && job.state !== 'failed' && !job.failed.length;
      jobs.filter(job => isOver(job) && !this._find(job)).forEach(job => this._dismissed.add(job.job_id));
      this._hasJobs = true;
    }
    // A server drops finished jobs from its list, but an active one only when it stops: such a job was interrupted.
    const left = this._jobs.filter(job => !jobs.some(one => one.job_id === job.job_id));
    left.filter(isActive).forEach(job => this._interrupted.add(job.job_id));
    const interrupted = left.filter(job => this.isInterrupted(job));
    this._jobs = [
      ...jobs.map(job => {
        // An event may be newer than a status that was on its way: counts never go back.
        const known = this._find(job);
        const isOlder = known && known.total === job.total && known.done > job.done;
        return isOlder && job.state === 'running' ? { ...job, done: known.done } : job;
      }),
      ...interrupted.map(job => ({ ...job, state: 'cancelled' as const }))
    ];
  }

  private _onEvent(_: unknown, event: Event.Emission): void {
    if (event.schema_id !== INDEX_EVENTS) {
      return;
    }
    const { phase, done, total, ...job } = event as unknown as IJobEvent;
    const known = this._find(job);
    if (known?.state === phase) {
      this._replace({ ...known, done: known.total === total ? Math.max(done, known.done) : done, total });
      this.stateChanged.emit();
    } else {
      // A job started or ended: only the status has its name and result.
      void this.refresh();
    }
  }

  private _find({ job_id }: Pick<IJob, 'job_id'>): IJob | undefined {
    return this._jobs.find(one => one.job_id === job_id);
  }

  private _replace(job: IJob): void {
    this._jobs = this._jobs.map(one => (one.job_id === job.job_id ? job : one));
  }

  private get _newest(): IJob[] {
    const isFirst = (job: IJob, i: number): boolean =>
      this._jobs.findIndex(one => one.path === job.path && !one.model === !job.model) === i;
    return this._jobs.filter(isFirst).filter(job => !this._dismissed.has(job.job_id));
  }

  private readonly _api: IndexApi;
  private readonly _poll: Poll<void, unknown>;
  private readonly _running: RequestName[] = [];
  /** Newest first. */
  private _jobs: readonly IJob[] = [];
  private _hasJobs = false;
  private readonly _dismissed = new Set<string>();
  private readonly _interrupted = new Set<string>();
  private readonly _stopped = new Set<string>();
  private _nextStatus: PromiseDelegate<void> | null = null;
  private _counted = new Map<string, Pick<IFolder, 'indexed_at' | 'changed'>>();
  private _isOpen = false;
  /** Somebody requested a status, whether the section can be seen or not. */
  private _isRequested = false;
  private _isUncounted = false;
  private _failures = 0;
  private _version = 0;
}

function same(a: unknown, b: unknown): boolean {
  return JSONExt.deepEqual(a as ReadonlyJSONValue, b as ReadonlyJSONValue);
}
