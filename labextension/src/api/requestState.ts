/** What a model asks of the server for a person: what is under way, and what the server said against it. */

import { ApiError, MISSING } from './memoryApi';

export class RequestState<Name> {
  constructor(private readonly _changed: () => void) {}

  /** Why the last thing that a person wanted was not done, or null. */
  get refusal(): ApiError | null {
    return this._refusal;
  }

  /** What was said against it was read. */
  dismiss(): void {
    this._refusal = null;
    this._changed();
  }

  /** Whether something is being asked: the buttons for it wait. */
  isPending(what: Name): boolean {
    return this._running.includes(what);
  }

  /** Do what a person wants; null where the server refuses, see `refusal`. */
  ask<T>(what: Name, task: () => Promise<T>): Promise<T | null> {
    this._refusal = null;
    return this._run(what, task, () => true);
  }

  /** Read what completes the picture: what was said against a person's wish stays, a missing server is told elsewhere. */
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
