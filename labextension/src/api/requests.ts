/** How requests follow each other: only the latest one is answered, or one waits for the other. */

import { isAbort } from './memoryApi';

export class LatestRequest {
  get isRunning(): boolean {
    return this._running !== undefined;
  }

  /** Run a task and abort the one before it. Resolves to undefined if a later task replaces it. */
  async run<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    this.stop();
    const mine = (this._running = new AbortController());
    try {
      const answer = await task(mine.signal);
      return mine.signal.aborted ? undefined : answer;
    } catch (error) {
      // An aborted request may fail in any way.
      if (mine.signal.aborted || isAbort(error)) {
        return undefined;
      }
      throw error;
    } finally {
      this._running = this._running === mine ? undefined : this._running;
    }
  }

  stop(): void {
    this._running?.abort();
    this._running = undefined;
  }

  private _running: AbortController | undefined;
}

export class SerialQueue {
  /** Run a task after all earlier tasks with the same key have ended, with or without an error. */
  async run<T>(about: string, task: () => Promise<T>): Promise<T> {
    const mine = (this._last.get(about) ?? Promise.resolve()).then(task, task);
    this._last.set(about, mine);
    try {
      return await mine;
    } finally {
      if (this._last.get(about) === mine) {
        this._last.delete(about);
      }
    }
  }

  /** Whether a task with this key is still running: then the result of an earlier one is out of date. */
  isRunning(about: string): boolean {
    return this._last.has(about);
  }

  private readonly _last = new Map<string, Promise<unknown>>();
}
