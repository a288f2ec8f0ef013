/** The server's routes, one method each; this file alone knows their URLs. */

import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import type {
  IAnswer,
  IExplanation,
  IFolder,
  IItem,
  IJob,
  IModel,
  IProblem,
  IProfile,
  IRecent,
  IRelatedTo,
  ISearch,
  IStatus,
  Within
} from './types';

/** The version of the interface that panel and server must share; see `IStatus.api`. */
export const API = 1;

/** The server extension is not enabled: a 404 without a reason of ours. */
export const MISSING = 'ServerExtensionMissing';

export const UNREACHABLE = 'Unreachable';

/** Something else answered: the page for logging in, or a proxy. */
export const UNREADABLE = 'Unreadable';

/** The server's reason for a store that is still empty, or whose file is gone. */
export const NO_STORE = 'NoStore';

/** The server's reason for a memory that no longer exists. */
export const NO_MEMORY = 'UnknownMemory';

/** The server's reason where it would forget another number of memories than a person agreed to. */
export const COUNT_DIFFERS = 'CountDiffers';

/** The server's reason for a field that it cannot use; the message begins with the name of the field. */
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
  title?: string;
  tags?: string[];
  kind?: string;
  lang?: string;
  source?: string;
  metadata?: Record<string, unknown>;
}

/** Watch a folder, or remove it: `count` says how many of its memories a person agreed to forget. */
export interface IFolderChange {
  path: string;
  watched?: boolean;
  remove?: boolean;
  count?: number;
}

export interface IFeedback {
  memory_id: string;
  accepted: boolean;
  query_id?: string;
  query?: string;
  rank?: number;
  profile?: string;
}

/** The memory's REST interface. Methods reject with `ApiError`, or with `AbortError` when their signal is aborted. */
export class MemoryApi {
  constructor(readonly serverSettings: ServerConnection.ISettings = ServerConnection.makeSettings()) {}

  status(signal?: AbortSignal): Promise<IStatus> {
    return this.ask('GET', 'status', undefined, { signal });
  }

  search(asked: ISearch, signal?: AbortSignal): Promise<IAnswer> {
    return this.ask('POST', 'search', asked, { signal });
  }

  explain(asked: ISearch & { memory_id: string }, signal?: AbortSignal): Promise<IExplanation> {
    return this.ask('POST', 'explain', asked, { signal });
  }

  related(asked: Within & { memory_id: string; profile?: string }, signal?: AbortSignal): Promise<IAnswer> {
    return this.ask('POST', 'related', asked, { signal });
  }

  relatedTo(asked: IRelatedTo, signal?: AbortSignal): Promise<IAnswer> {
    return this.ask('POST', 'related-to', asked, { signal });
  }

  item(memory_id: string, signal?: AbortSignal): Promise<IItem> {
    return this.ask('POST', 'item', { memory_id }, { signal });
  }

  /** The address of a picture of a memory, counted from 0. */
  thumbnail(memory_id: string, place: number): string {
    const url = URLExt.join(this.serverSettings.baseUrl, 'jupyter-memory/thumbnail');
    return url + URLExt.objectToQueryString({ memory_id, place: `${place}` });
  }

  browse(asked: Within = {}, signal?: AbortSignal): Promise<IAnswer> {
    return this.ask('POST', 'browse', asked, { signal });
  }

  async recent(limit?: number, signal?: AbortSignal): Promise<IRecent[]> {
    return (await this.ask<{ searches: IRecent[] }>('POST', 'recent', { limit }, { signal })).searches;
  }

  async forgetRecent(): Promise<number> {
    return (await this.ask<{ removed: number }>('DELETE', 'recent')).removed;
  }

  add(asked: IAdd): Promise<IItem> {
    return this.ask('POST', 'add', asked);
  }

  update(asked: { memory_id: string; title?: string; text?: string; tags?: string[] }): Promise<IItem> {
    return this.ask('POST', 'update', asked);
  }

  pin(memory_id: string, pinned: boolean): Promise<IItem> {
    return this.ask('POST', 'pin', { memory_id, pinned });
  }

  /** Forget memories. With `keepalive` the request outlives the page. */
  async forget(what: { memory_ids: string[] }, keepalive = false): Promise<number> {
    return (await this.ask<{ forgotten: number }>('POST', 'forget', what, { keepalive })).forgotten;
  }

  /** Index a contents path or an absolute one; `''` is Lab's root. */
  index(path: string, watch?: boolean): Promise<IJob> {
    return this.ask('POST', 'index', { path, watch });
  }

  async jobs(signal?: AbortSignal): Promise<IJob[]> {
    return (await this.ask<{ jobs: IJob[] }>('GET', 'jobs', undefined, { signal })).jobs;
  }

  cancelJob(job_id: string): Promise<IJob> {
    return this.ask('POST', 'jobs', { job_id, cancel: true });
  }

  /** The indexed folders with the number of changed files in each, for which the server walks them. */
  async folders(signal?: AbortSignal): Promise<IFolder[]> {
    return (await this.ask<{ folders: IFolder[] }>('GET', 'folders', undefined, { signal })).folders;
  }

  async setFolder(asked: IFolderChange): Promise<IFolder[]> {
    return (await this.ask<{ folders: IFolder[] }>('POST', 'folders', asked)).folders;
  }

  /** Count that a person used a memory. What they did went well, so a refusal is nothing to tell. */
  async access(memory_id: string): Promise<void> {
    try {
      await this.ask('POST', 'access', { memory_id });
    } catch (error) {
      if (!(error instanceof ApiError)) {
        throw error;
      }
    }
  }

  async feedback(asked: IFeedback): Promise<void> {
    await this.ask('POST', 'feedback', asked);
  }

  async profiles(signal?: AbortSignal): Promise<IProfile[]> {
    return (await this.ask<{ profiles: IProfile[] }>('GET', 'profiles', undefined, { signal })).profiles;
  }

  async models(signal?: AbortSignal): Promise<IModel[]> {
    return (await this.ask<{ models: IModel[] }>('GET', 'models', undefined, { signal })).models;
  }

  async doctor(signal?: AbortSignal): Promise<string[]> {
    return (await this.ask<{ problems: string[] }>('GET', 'doctor', undefined, { signal })).problems;
  }

  private async ask<T>(method: string, route: string, body?: object, how: RequestInit = {}): Promise<T> {
    const url = URLExt.join(this.serverSettings.baseUrl, 'jupyter-memory', route);
    const init = { ...how, method, body: body === undefined ? undefined : JSON.stringify(body) };
    let response: Response;
    try {
      response = await ServerConnection.makeRequest(url, init, this.serverSettings);
    } catch (error) {
      throw abortError(how.signal) ?? new ApiError(0, UNREACHABLE, 'The Jupyter server does not answer.');
    }
    const answer = await jsonOf(response);
    if (!response.ok) {
      throw errorOf(response, answer);
    }
    if (answer === null) {
      throw (
        abortError(how.signal) ??
        new ApiError(response.status, UNREADABLE, 'The answer does not come from jupyter-memory.')
      );
    }
    return answer as T;
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** Lab wraps what `fetch` threw: only the signal tells an abort from a failure. */
function abortError(signal: AbortSignal | null | undefined): DOMException | null {
  return signal?.aborted ? new DOMException('The request was aborted.', 'AbortError') : null;
}

async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return null;
  }
}

function errorOf(response: Response, body: unknown): ApiError {
  const { message, reason } = (body ?? {}) as Partial<IProblem>;
  if (response.status === 404 && !reason) {
    return new ApiError(404, MISSING, 'The server does not know jupyter-memory.');
  }
  if ([502, 503, 504].includes(response.status) && !reason) {
    // A proxy answers for a server that is not running.
    return new ApiError(response.status, UNREACHABLE, 'The Jupyter server does not answer.');
  }
  return new ApiError(response.status, reason || response.statusText, message || `${response.status}`);
}
