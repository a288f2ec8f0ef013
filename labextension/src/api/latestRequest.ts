/** Of several requests sent one after the other, only the latest is answered. */

import { isAbort } from './memoryApi';

export class LatestRequest {
  /** Whether a request is running. */
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

  /** Abort the running request. */
  stop(): void {
    this._running?.abort();
    this._running = undefined;
  }

  private _running: AbortController | undefined;
}
