/** Requests about one thing go out one after the other, so that the server ends where the person did. */

export class SerialQueue {
  /** Do a task once those before it about the same thing are over, however they ended. */
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

  /** Whether a task about this is still to end: then what one before it brought is out of date. */
  isRunning(about: string): boolean {
    return this._last.has(about);
  }

  private readonly _last = new Map<string, Promise<unknown>>();
}
