/** Of several questions asked one after the other, only the latest is answered. */

import { isAbort } from './memoryApi';

export class LatestRequest {
  /** Whether an answer is waited for. */
  get isRunning(): boolean {
    return this._running !== undefined;
  }

  /** Do a task and take back the one before; undefined where a later one came meanwhile. */
  async run<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    this.stop();
    const mine = (this._running = new AbortController());
    try {
      const answer = await task(mine.signal);
      return mine.signal.aborted ? undefined : answer;
    } catch (error) {
      // One that was taken back may end in any way.
      if (mine.signal.aborted || isAbort(error)) {
        return undefined;
      }
      throw error;
    } finally {
      this._running = this._running === mine ? undefined : this._running;
    }
  }

  /** Take back what runs. */
  stop(): void {
    this._running?.abort();
    this._running = undefined;
  }

  private _running: AbortController | undefined;
}
