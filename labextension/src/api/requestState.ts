/** The requests that a model makes for a person: which are running, and why the server refused the last one. */

import { ApiError, MISSING } from './memoryApi';

export class RequestState<Name> {
  constructor(private readonly _changed: () => void) {}

  get refusal(): ApiError | null {
    return this._refusal;
  }

  dismiss(): void {
    this._refusal = null;
    this._changed();
  }

  /** Whether a request is running: its buttons wait. */
  isPending(what: Name): boolean {
    return this._running.includes(what);
  }

  /** Send a request for a person. Resolves to null where the server refuses; `refusal` says why. */
  ask<T>(what: Name, task: () => Promise<T>): Promise<T | null> {
    this._refusal = null;
    return this._run(what, task, () => true);
  }

  /** Read more data in the background: an earlier refusal stays, and a missing server is reported elsewhere. */
  read<T>(what: Name, task: () => Promise<T>): Promise<T | null> {
    return this._run(what, task, ({ reason }) => reason !== MISSING);
  }

  private async _run<T>(what: Name, task: () => Promise<T>, isShown: (error: ApiError) => boolean): Promise<T | null> {
    this._running.push(what);
    this._changed();
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof ApiError)) {
        throw error;
      }
      this._refusal = isShown(error) ? error : this._refusal;
      return null;
    } finally {
      this._running.splice(this._running.indexOf(what), 1);
      this._changed();
    }
  }

  private _refusal: ApiError | null = null;
  private readonly _running: Name[] = [];
}
