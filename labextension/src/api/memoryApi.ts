/** The server's routes, one method each; this file alone knows their URLs. */

import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import type {
  Among,
  IAnswer,
  IExplanation,
  IFolder,
  IHit,
  IItem,
  IJob,
  IModel,
  IProblem,
  IProfile,
  IRecent,
  IRelatedTo,
  ISearch,
  IStatus,
  IVersions,
  Within
} from './types';

/** The version of the interface that panel and server must share; see `IStatus.api`. */
export const API = 1;

// The reasons of errors. The first three are the panel's own, the others come from the server.

/** The server extension is not enabled: a 404 without a reason of ours. */
export const MISSING = 'ServerExtensionMissing';
export const UNREACHABLE = 'Unreachable';
/** Something else answered: the page for logging in, or a proxy. */
export const UNREADABLE = 'Unreadable';
/** The store is still empty, or its file is gone. */
export const NO_STORE = 'NoStore';
export const NO_MEMORY = 'UnknownMemory';
/** It would forget another number of memories than a person agreed to. */
export const COUNT_DIFFERS = 'CountDiffers';
/** The message begins with the name of the field. */
export const INVALID_FIELD = 'InvalidField';

/** An error of the server: the HTTP status (0 without a response), a reason, and a sentence for a person. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly reason: string,
    message: string
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

export interface IAdd {
  text: string;
  lang: string;
  kind: string;
  metadata?: Record<string, unknown>;
}

/** Watch a folder, or remove it: `count` says how many of its memories a person agreed to forget. */
export interface IFolderChange {
  path: string;
  watched?: boolean;
  remove?: boolean;
  count?: number;
}

export type IFeedback = Pick<IHit, 'memory_id'> &
  Partial<Pick<IHit, 'rank'> & Pick<IAnswer, 'query_id' | 'query' | 'profile'>> & {
    /** Null takes back what was said. */
    accepted: boolean | null;
    first?: boolean;
  };

/** The memory's REST interface. Methods reject with `ApiError`, or with `AbortError` when their signal is aborted. */
export class MemoryApi {
  constructor(readonly serverSettings: ServerConnection.ISettings = ServerConnection.makeSettings()) {}

  readonly status = () => this._get<IStatus>('status');
  readonly profiles = async () => (await this._get<{ profiles: IProfile[] }>('profiles')).profiles;
  readonly models = async () => (await this._get<{ models: IModel[] }>('models')).models;
  /** Make the store search with a model; `download` is how many bytes a person agreed to fetch. */
  readonly useModel = (name: string, download: number) => this._post<IJob>('models', { name, download });
  readonly doctor = async () => (await this._get<{ problems: string[] }>('doctor')).problems;

  readonly search = (asked: ISearch, signal?: AbortSignal) => this._post<IAnswer>('search', asked, { signal });
  readonly explain = (asked: ISearch & { memory_id: string }, signal?: AbortSignal) =>
    this._post<IExplanation>('explain', asked, { signal });
  readonly related = (asked: Within & { memory_id: string; profile?: string }, signal?: AbortSignal) =>
    this._post<IAnswer>('related', asked, { signal });
  readonly relatedTo = (asked: IRelatedTo, signal?: AbortSignal) =>
    this._post<IAnswer>('related-to', asked, { signal });
  readonly browse = (asked: Among = {}, signal?: AbortSignal) => this._post<IAnswer>('browse', asked, { signal });
  readonly recent = async (limit?: number, signal?: AbortSignal) =>
    (await this._post<{ searches: IRecent[] }>('recent', { limit }, { signal })).searches;
  readonly forgetRecent = () => this._ask<unknown>('recent', { method: 'DELETE' });

  /** A memory in full; `isRunnable` also asks for its code with what it needs. */
  readonly item = (memory_id: string, how: { isRunnable?: boolean; signal?: AbortSignal } = {}) =>
    this._post<IItem>('item', { memory_id, ...(how.isRunnable && { runnable: true }) }, { signal: how.signal });
  readonly versions = (memory_id: string) => this._post<IVersions>('versions', { memory_id });
  readonly add = (asked: IAdd) => this._post<IItem>('add', asked);
  readonly update = (asked: { memory_id: string; tags: string[] }) => this._post<IItem>('update', asked);
  readonly pin = (memory_id: string, pinned: boolean) => this._post<IItem>('pin', { memory_id, pinned });
  /** Forget memories. With `keepalive` the request outlives the page. */
  readonly forget = (what: { memory_ids: string[] }, keepalive = false) =>
    this._post<unknown>('forget', what, { keepalive });
  readonly feedback = (asked: IFeedback) => this._post<unknown>('feedback', asked);
  /** Count that a person used a memory. What they did went well, so a refusal is nothing to tell. */
  readonly access = (memory_id: string) => this._post<unknown>('access', { memory_id }).catch(refusalOf);

  /** Index a contents path or an absolute one; `''` is Lab's root. */
  readonly index = (path: string, watch?: boolean) => this._post<IJob>('index', { path, watch });
  readonly cancelJob = (job_id: string) => this._post<IJob>('jobs', { job_id, cancel: true });
  /** The indexed folders with the number of changed files in each, for which the server walks them. */
  readonly folders = async () => (await this._get<{ folders: IFolder[] }>('folders')).folders;
  readonly setFolder = async (asked: IFolderChange) =>
    (await this._post<{ folders: IFolder[] }>('folders', asked)).folders;

  /** A picture of a memory, counted from 0, as a data URL: no URL of the server may tell the name of a store. */
  readonly thumbnail = async (memory_id: string, place: number) =>
    (await this._post<{ picture: string }>('thumbnail', { memory_id, place })).picture;

  private _get<T>(route: string): Promise<T> {
    return this._ask(route, { method: 'GET' });
  }

  private _post<T>(route: string, body: object, how: RequestInit = {}): Promise<T> {
    return this._ask(route, { ...how, method: 'POST', body: JSON.stringify(body) });
  }

  private async _ask<T>(route: string, init: RequestInit): Promise<T> {
    const url = URLExt.join(this.serverSettings.baseUrl, 'jupyter-memory', route);
    // Lab wraps what `fetch` threw: only the signal tells an abort from a failure.
    const failed = (status: number, reason: string, message: string): Error =>
      init.signal?.aborted
        ? new DOMException('The request was aborted.', 'AbortError')
        : new ApiError(status, reason, message);
    let response: Response;
    try {
      response = await ServerConnection.makeRequest(url, init, this.serverSettings);
    } catch {
      throw failed(0, UNREACHABLE, 'The Jupyter server does not answer.');
    }
    const answer: unknown = await response.json().catch(() => null);
    if (!response.ok) {
      throw errorOf(response, (answer ?? {}) as Partial<IProblem>);
    }
    if (answer === null) {
      throw failed(response.status, UNREADABLE, 'The answer does not come from jupyter-memory.');
    }
    return answer as T;
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** What the server refused with; any other error is thrown on. */
export function refusalOf(error: unknown): ApiError {
  if (error instanceof ApiError) {
    return error;
  }
  throw error;
}

function errorOf({ status, statusText }: Response, { message, reason }: Partial<IProblem>): ApiError {
  if (status === 404 && !reason) {
    return new ApiError(404, MISSING, 'The server does not know jupyter-memory.');
  }
  if ([502, 503, 504].includes(status) && !reason) {
    // A proxy answers for a server that is not running.
    return new ApiError(status, UNREACHABLE, 'The Jupyter server does not answer.');
  }
  return new ApiError(status, reason || statusText, message || `${status}`);
}
