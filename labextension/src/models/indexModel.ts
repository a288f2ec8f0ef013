/** What is indexed and what is being indexed: the status route is the truth, events bring the counts between two looks. */

import type { Event } from '@jupyterlab/services';
import { VDomModel } from '@jupyterlab/ui-components';
import { JSONExt, PromiseDelegate, type ReadonlyJSONValue } from '@lumino/coreutils';
import { Poll } from '@lumino/polling';

import { ApiError, MISSING, type MemoryApi, UNREACHABLE } from '../api/memoryApi';
import { RequestState } from '../api/requestState';
import type { IFolder, IJob, IModel, IStatus } from '../api/types';
import { type IJobEvent, type IProgress, JobList } from './jobList';

/** Events of the server that count what is indexed. */
export const INDEX_EVENTS = 'https://jupyter-memory.readthedocs.io/events/index/v1';

/** Milliseconds between two looks while something is indexed, and while nothing is. */
const BUSY_INTERVAL = 1_000;
const IDLE_INTERVAL = 30_000;

/** After the server stopped to answer: at first after a second, then after twice as long, at last once a minute. */
const MAX_RETRY_INTERVAL = 60_000;
const BACKOFF = { backoff: true, max: 300_000 };

/** What the index section asks of the server. */
export type IndexApi = Pick<
  MemoryApi,
  'status' | 'index' | 'cancelJob' | 'folders' | 'setFolder' | 'models' | 'doctor'
>;

type RequestName = 'index' | 'cancel' | 'folder' | 'changes' | 'models' | 'doctor';

export interface IIndexModelOptions {
  api: IndexApi;
  /** Lab's event bus: `app.serviceManager.events`. Without it the counts come by polling alone. */
  events?: Event.IManager;
}

/** The state of the index. `stateChanged` tells of changes, and only of those. */
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
      // Nobody looks and nothing runs: the server has its peace.
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

  /** Why the last thing that was asked for was not done, or null. */
  get refusal(): ApiError | null {
    return this._requests.refusal;
  }

  /** The indexed folders, with their changed files where these were counted. */
  get folders(): IFolder[] {
    return (this._status?.folders ?? []).map(one => ({ ...one, changed: this._changedFiles(one) }));
  }

  /** The newest job of each path, one that is over until it is dismissed. */
  get jobs(): IJob[] {
    return this._jobs.shown;
  }

  get isIndexing(): boolean {
    return this._jobs.isIndexing;
  }

  /** How far the job is that runs. */
  get progress(): IProgress {
    return this._jobs.progress;
  }

  /** The models that have a name, null until they were asked for. */
  get models(): IModel[] | null {
    return this._models;
  }

  /** What the doctor found, null until it was asked. */
  get findings(): string[] | null {
    return this._findings;
  }

  /** What is being asked: the buttons for it wait. */
  isPending(what: RequestName): boolean {
    return this._requests.isPending(what);
  }

  /** Whether somebody looks at the index: then it is kept up to date. */
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

  /** Look at the status now. */
  async refresh(): Promise<void> {
    this._isRequested = true;
    await this._poll.refresh();
  }

  /** Resolves with the next status that comes: until then it is looked for again and again. */
  nextStatus(): Promise<void> {
    this._nextStatus ??= new PromiseDelegate();
    void this.refresh();
    return this._nextStatus.promise;
  }

  /** Index a contents path or an absolute one; `''` is Lab's root. Rejects never: see `refusal`. */
  async index(path: string, watch?: boolean): Promise<IJob | null> {
    const job = await this._requests.ask('index', () => this._api.index(path, watch));
    if (job) {
      this._jobs.begin(job);
      this._refreshAfterChange();
    }
    return job;
  }

  /** Stop a job: it goes on until the file it is at is done. */
  async cancel(job_id: string): Promise<void> {
    const job = await this._requests.ask('cancel', () => this._api.cancelJob(job_id));
    if (job) {
      this._jobs.stop(job);
      this._refreshAfterChange();
    }
  }

  /** Whether the server stopped before a job was over. */
  isInterrupted(job: IJob): boolean {
    return this._jobs.isInterrupted(job);
  }

  /** Whether a job was asked to stop. */
  isStopping(job: IJob): boolean {
    return this._jobs.isStopping(job);
  }

  /** Take a job that is over out of the list. */
  dismiss(job_id: string): void {
    this._jobs.dismiss(job_id);
    this._emit();
  }

  /** Index changes that are made in Lab at once, or no longer. */
  watch(path: string, watched: boolean): Promise<void> {
    return this._setFolder({ path, watched });
  }

  /** Forget a folder with all that was indexed of it. */
  remove(path: string): Promise<void> {
    return this._setFolder({ path, remove: true });
  }

  /** Count the files that changed since they were indexed: the server walks the folders. */
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
      // A look that fails is followed by the next after a wait that Lumino draws at random; this one is told by us.
      if (!(error instanceof ApiError && error.reason === UNREACHABLE)) {
        throw error;
      }
    }
  }

  /** After a change: a status that is still on its way is of the time before it. */
  private _refreshAfterChange(): void {
    this._version++;
    this._emit();
    void this.refresh();
  }

  private _setProblem(problem: ApiError): void {
    const isNew = this._problem?.reason !== problem.reason;
    this._problem = problem;
    if (problem.reason === MISSING) {
      // It will not come by waiting: `refresh` looks again.
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
      // A job began or ended: what it is called and what it did stands in the status alone.
      void this.refresh();
    }
  }

  private async _setFolder(asked: { path: string; watched?: boolean; remove?: boolean }): Promise<void> {
    const folders = await this._requests.ask('folder', () => this._api.setFolder(asked));
    if (folders && this._status) {
      this._status = { ...this._status, folders };
      this._refreshAfterChange();
    }
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
  /** Told of the next status. */
  private _nextStatus: PromiseDelegate<void> | null = null;
  private _counted = new Map<string, { at: string | null; changed: number | null }>();
  private _findings: string[] | null = null;
  private _isOpen = false;
  /** Somebody asked for a look, whether anybody looks on or not. */
  private _isRequested = false;
  /** Changed files are to be counted with the next status. */
  private _isUncounted = false;
  /** Looks in a row that the server did not answer. */
  private _failures = 0;
  private _models: IModel[] | null = null;
  private _problem: ApiError | null = null;
  private _status: IStatus | null = null;
  private _version = 0;
}

function same(a: unknown, b: unknown): boolean {
  return JSONExt.deepEqual(a as ReadonlyJSONValue, b as ReadonlyJSONValue);
}
