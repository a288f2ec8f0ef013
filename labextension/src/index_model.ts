/** What is indexed and what is being indexed: the status route is the truth, events bring the counts between two looks. */

import type { Event } from '@jupyterlab/services';
import { VDomModel } from '@jupyterlab/ui-components';
import { JSONExt, type ReadonlyJSONValue } from '@lumino/coreutils';
import { Poll } from '@lumino/polling';

import { ApiError, MISSING, type MemoryApi } from './api';
import type { IProgress } from './tokens';
import type { IFolder, IJob, IModel, IStatus } from './types';

/** Events of the server that count what is indexed. */
export const EVENTS = 'https://jupyter-memory.readthedocs.io/events/index/v1';

/** Milliseconds between two looks while something is indexed, and while nothing is. */
const BUSY = 1_000;
const IDLE = 30_000;

/** What the index section asks of the server. */
export type IndexApi = Pick<
  MemoryApi,
  'status' | 'index' | 'cancelJob' | 'folders' | 'setFolder' | 'models' | 'doctor'
>;

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
      factory: () => this._look(),
      frequency: { interval: IDLE, backoff: true, max: 300_000 },
      // Nobody looks and nothing runs: the server has its peace.
      standby: () => (this._isOpen || this.isIndexing || this._isWanted ? 'when-hidden' : true)
    });
    events?.stream.connect(this._hear, this);
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
    return this._refusal;
  }

  /** The indexed folders, with their changed files where these were counted. */
  get folders(): IFolder[] {
    return (this._status?.folders ?? []).map(one => ({ ...one, changed: this._changedIn(one) }));
  }

  /** The newest job of each path, one that is over until it is dismissed. */
  get jobs(): IJob[] {
    const newest = this._jobs.filter((job, i) => this._jobs.findIndex(one => one.path === job.path) === i);
    return newest.filter(job => !this._dismissed.has(job.job_id));
  }

  get isIndexing(): boolean {
    return this._jobs.some(isGoingOn);
  }

  /** How far the job is that runs. */
  get progress(): IProgress {
    const job = this._jobs.find(one => one.state === 'running') ?? this._jobs.find(isGoingOn);
    return job ? { phase: 'indexing', done: job.done, total: job.total } : { phase: 'idle', done: 0, total: null };
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
  isAsking(what: Asking): boolean {
    return this._askings.has(what);
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
    this._isWanted = true;
    await this._poll.refresh();
  }

  /** Index a contents path or an absolute one; `''` is Lab's root. Rejects never: see `refusal`. */
  async index(path: string, watch?: boolean): Promise<IJob | null> {
    const job = await this._ask('index', () => this._api.index(path, watch));
    if (job) {
      this._take({ jobs: [job, ...this._jobs.filter(one => one.job_id !== job.job_id)] });
      void this.refresh();
    }
    return job;
  }

  /** Stop a job: it goes on until the file it is at is done. */
  async cancel(job_id: string): Promise<void> {
    const job = await this._ask('cancel', () => this._api.cancelJob(job_id));
    this._cancelled.add(job?.job_id ?? '');
    if (job) {
      this._take({ jobs: this._jobs.map(one => (one.job_id === job_id ? job : one)) });
      void this.refresh();
    }
  }

  /** Whether a job was asked to stop. */
  isStopping(job: IJob): boolean {
    return isGoingOn(job) && this._cancelled.has(job.job_id);
  }

  /** Take a job that is over out of the list. */
  dismiss(job_id: string): void {
    this._dismissed.add(job_id);
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
    const folders = await this._ask('changes', () => this._api.folders());
    if (folders) {
      this._counted = new Map(folders.map(one => [one.path, { at: one.indexed_at, changed: one.changed }]));
      this._emit();
    }
  }

  async loadModels(): Promise<void> {
    this._models = (await this._ask('models', () => this._api.models())) ?? this._models;
    this._emit();
  }

  async askDoctor(): Promise<void> {
    this._findings = (await this._ask('doctor', () => this._api.doctor())) ?? this._findings;
    this._emit();
  }

  dismissRefusal(): void {
    this._refusal = null;
    this._emit();
  }

  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    this._events?.stream.disconnect(this._hear, this);
    this._poll.dispose();
    super.dispose();
  }

  private async _look(): Promise<void> {
    const turn = ++this._turn;
    this._isWanted = false;
    try {
      const status = await this._api.status();
      if (turn === this._turn && !this.isDisposed) {
        this._problem = null;
        this._takeStatus(status);
      }
    } catch (error) {
      if (!(error instanceof ApiError) || turn !== this._turn || this.isDisposed) {
        throw error;
      }
      this._note(error);
      throw error;
    }
  }

  private _note(problem: ApiError): void {
    const isNew = this._problem?.reason !== problem.reason;
    this._problem = problem;
    if (problem.reason === MISSING) {
      // It will not come by waiting: `refresh` looks again.
      void this._poll.stop();
    }
    if (isNew) {
      this._emit();
    }
  }

  private _takeStatus(status: IStatus): void {
    const wasIndexing = this.isIndexing;
    if (!this._status) {
      // What went well before anybody looked is no news.
      status.jobs.filter(isWell).forEach(job => this._dismissed.add(job.job_id));
    }
    const model = this._status?.model;
    this._take({ status, jobs: status.jobs.map(job => this._ahead(job)) });
    this._poll.frequency = { ...this._poll.frequency, interval: this.isIndexing ? BUSY : IDLE };
    this._isUncounted ||= wasIndexing && !this.isIndexing;
    if (this._isOpen && this._isUncounted && status.folders.length) {
      this._isUncounted = false;
      void this.countChanges();
    }
    if (this._isOpen && model !== undefined && model !== status.model) {
      void this.loadModels();
    }
  }

  /** An event may have told more of a job than the status that was on its way: counts never go back. */
  private _ahead(job: IJob): IJob {
    const known = this._jobs.find(one => one.job_id === job.job_id);
    return known && job.state === 'running' && known.done > job.done ? { ...job, done: known.done } : job;
  }

  private _take(news: { status?: IStatus; jobs: IJob[] }): void {
    const status = news.status ?? this._status;
    const isOld = same(status, this._status) && same(news.jobs, this._jobs);
    this._status = status;
    this._jobs = news.jobs;
    if (!isOld || news.status === undefined) {
      this._emit();
    }
  }

  private _hear(_: unknown, event: Event.Emission): void {
    if (event.schema_id !== EVENTS) {
      return;
    }
    const { job_id, phase, done, total } = event as unknown as IProgressEvent;
    const known = this._jobs.find(job => job.job_id === job_id);
    if (known?.state === phase) {
      const heard = { ...known, done: Math.max(done, known.done), total };
      this._take({ jobs: this._jobs.map(job => (job === known ? heard : job)) });
    } else {
      // A job began or ended: what it is called and what it did stands in the status alone.
      void this.refresh();
    }
  }

  private async _setFolder(asked: { path: string; watched?: boolean; remove?: boolean }): Promise<void> {
    const folders = await this._ask('folder', () => this._api.setFolder(asked));
    if (folders && this._status) {
      this._take({ status: { ...this._status, folders }, jobs: this._jobs });
      void this.refresh();
    }
  }

  private _changedIn(folder: IFolder): number | null {
    const counted = this._counted.get(folder.path);
    return counted && counted.at === folder.indexed_at ? counted.changed : folder.changed;
  }

  /** Ask for something that a person wanted, and keep what is said against it. */
  private async _ask<T>(what: Asking, task: () => Promise<T>): Promise<T | null> {
    this._askings.add(what);
    this._refusal = null;
    this._emit();
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof ApiError)) {
        throw error;
      }
      this._refusal = error.reason === MISSING ? null : error;
      return null;
    } finally {
      this._askings.delete(what);
      this._emit();
    }
  }

  private _emit(): void {
    if (!this.isDisposed) {
      this.stateChanged.emit();
    }
  }

  private readonly _api: IndexApi;
  private readonly _events: Event.IManager | undefined;
  private readonly _poll: Poll<void, unknown>;
  private readonly _askings = new Set<Asking>();
  private readonly _cancelled = new Set<string>();
  private readonly _dismissed = new Set<string>();
  private _counted = new Map<string, { at: string | null; changed: number | null }>();
  private _findings: string[] | null = null;
  private _isOpen = false;
  /** Somebody asked for a look, whether anybody looks on or not. */
  private _isWanted = false;
  /** Changed files are to be counted with the next status. */
  private _isUncounted = false;
  private _jobs: IJob[] = [];
  private _models: IModel[] | null = null;
  private _problem: ApiError | null = null;
  private _refusal: ApiError | null = null;
  private _status: IStatus | null = null;
  private _turn = 0;
}

export type Asking = 'index' | 'cancel' | 'folder' | 'changes' | 'models' | 'doctor';

/** Whether a job waits or runs. */
export function isGoingOn(job: IJob): boolean {
  return job.state === 'waiting' || job.state === 'running';
}

function isWell(job: IJob): boolean {
  return !isGoingOn(job) && job.state !== 'failed' && !job.failed.length;
}

interface IProgressEvent {
  job_id: string;
  phase: IJob['state'];
  done: number;
  total: number | null;
}

function same(a: unknown, b: unknown): boolean {
  return JSONExt.deepEqual(a as ReadonlyJSONValue, b as ReadonlyJSONValue);
}
