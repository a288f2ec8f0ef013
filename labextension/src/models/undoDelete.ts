/** Deletion with undo: a memory is hidden at once, and the server forgets it a few seconds later. */

import { type ISignal, Signal } from '@lumino/signaling';

import { ApiError, type MemoryApi } from '../api/memoryApi';

/** A memory that is hidden from the list, but not yet deleted from the store. */
export interface IDeletion {
  id: string;
  title: string;
}

/** Sends each deletion after `delay`, or at once when it is disposed. */
export class UndoDelete {
  constructor(
    private readonly _api: MemoryApi,
    /** Milliseconds in which a deletion can be undone. */
    public delay: number
  ) {}

  /** The server forgot memories, or refused with this error: then they are back. */
  get settled(): ISignal<this, ApiError | null> {
    return this._settled;
  }

  get waiting(): IDeletion[] {
    return [...this._waiting.values()].map(one => one.what);
  }

  /** Whether a memory is hidden: its deletion waits, is being sent, or is done. */
  has(id: string): boolean {
    return this._waiting.has(id) || this._gone.has(id);
  }

  /** Grows with every change of what is hidden. */
  get version(): number {
    return this._version;
  }

  add(what: IDeletion): void {
    this._version++;
    clearTimeout(this._waiting.get(what.id)?.timer);
    this._waiting.set(what.id, { what, timer: this._startTimer(what.id) });
  }

  /** Stop the timer of a deletion: somebody may be about to undo it. */
  pause(id: string): void {
    clearTimeout(this._waiting.get(id)?.timer);
  }

  /** Restart the timer of a deletion. */
  resume(id: string): void {
    const one = this._waiting.get(id);
    if (one) {
      clearTimeout(one.timer);
      one.timer = this._startTimer(id);
    }
  }

  undo(id: string): void {
    this._version++;
    clearTimeout(this._waiting.get(id)?.timer);
    this._waiting.delete(id);
  }

  /** A memory is gone already: somebody else deleted it. */
  markGone(id: string): void {
    this.undo(id);
    this._gone.add(id);
  }

  /** Send all waiting deletions, in a request that outlives the page. */
  flush(): void {
    if (this._waiting.size) {
      void this._send([...this._waiting.keys()], true);
    }
  }

  dispose(): void {
    this.flush();
  }

  private _startTimer(id: string): ReturnType<typeof setTimeout> {
    return setTimeout(() => void this._send([id]), this.delay);
  }

  private async _send(ids: string[], keepalive = false): Promise<void> {
    for (const id of ids) {
      this.undo(id);
      this._gone.add(id);
    }
    try {
      await this._api.forget({ memory_ids: ids }, keepalive);
      this._settled.emit(null);
    } catch (error) {
      this._version++;
      ids.forEach(id => this._gone.delete(id));
      if (!(error instanceof ApiError)) {
        throw error;
      }
      this._settled.emit(error);
    }
  }

  private readonly _settled = new Signal<this, ApiError | null>(this);
  private _version = 0;
  private readonly _waiting = new Map<string, { what: IDeletion; timer: ReturnType<typeof setTimeout> }>();
  private readonly _gone = new Set<string>();
}
