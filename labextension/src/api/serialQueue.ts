/** Sends requests about the same memory one after the other, so that the last click decides. */

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
