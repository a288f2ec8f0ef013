/** Deletion with undo: a memory is hidden at once, and the server forgets it a few seconds later. */

import { type ISignal, Signal } from '@lumino/signaling';

import { ApiError, type MemoryApi } from '../api/memoryApi';

/** A memory that is gone from the list and not yet from the store. */
export interface IDeletion {
  id: string;
  title: string;
}

/** Sends each `forget` after a while, or at once when it is disposed. */
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

  /** Whether a memory is to be hidden: it waits, is being sent, or is gone. */
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

  /** Let the time of one stand: somebody is about to have it back. */
  pause(id: string): void {
    clearTimeout(this._waiting.get(id)?.timer);
  }

  /** Let the time of one run again, from its beginning. */
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

  /** One is gone already: somebody else forgot it. */
  markGone(id: string): void {
    this.undo(id);
    this._gone.add(id);
  }

  /** Send all that wait, with requests that outlive the page. */
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
