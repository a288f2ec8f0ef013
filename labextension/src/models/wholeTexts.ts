/** The whole texts of memories, each fetched when its card is unfolded in the list. */

import { type ISignal, Signal } from '@lumino/signaling';

import { ApiError, type MemoryApi, NO_MEMORY } from '../api/memoryApi';
import { LatestRequest } from '../api/requests';
import type { IItem } from '../api/types';

export interface IWholeText {
  readonly item: IItem | null;
  readonly problem: ApiError | null;
}

export interface ILost {
  id: string;
  problem: ApiError;
}

export class WholeTexts {
  constructor(private readonly _api: Pick<MemoryApi, 'item' | 'access'>) {}

  get changed(): ISignal<this, void> {
    return this._changed;
  }
  get lost(): ISignal<this, ILost> {
    return this._lost;
  }
  get failed(): ISignal<this, ApiError> {
    return this._failed;
  }

  /** The unfolded cards by memory id; a new map after each change. */
  get all(): ReadonlyMap<string, IWholeText> {
    return this._all;
  }

  /** Id of the memory whose card was unfolded or folded last, or null. */
  get lastToggled(): string | null {
    return this._lastToggled;
  }

  toggle(id: string): void {
    if (this._all.has(id)) {
      this.fold(id);
    } else {
      this.unfold(id);
    }
  }

  unfold(id: string): void {
    if (!this._all.has(id)) {
      this._lastToggled = id;
      this._put(id, { item: null, problem: null });
      void this._read(id).then(isHere => (isHere ? this._api.access(id) : undefined));
    }
  }

  fold(id: string): void {
    if (this._all.has(id)) {
      this._lastToggled = id;
      this._drop(id);
      this._changed.emit();
    }
  }

  /** Fetch the text of an unfolded card, for the first time or again. */
  read(id: string): void {
    this._put(id, { item: this._all.get(id)?.item ?? null, problem: null });
    void this._read(id);
  }

  /** Take a new answer. If it belongs to the same question, the cards stay unfolded and their texts are read again. */
  answered(about: string, ids: readonly string[]): void {
    const there = new Set(about === this._about ? ids : []);
    const gone = [...this._all.keys()].filter(id => !there.has(id));
    this._about = about;
    gone.forEach(id => this._drop(id));
    // If the card comes back with a later question, a screen reader does not announce it again.
    const isDropped = this._lastToggled !== null && !there.has(this._lastToggled);
    this._lastToggled = isDropped ? null : this._lastToggled;
    if (gone.length || isDropped) {
      this._changed.emit();
    }
    [...this._all.keys()].forEach(id => void this._read(id));
  }

  dispose(): void {
    this._reading.forEach(one => one.stop());
    Signal.clearData(this);
  }

  private async _read(id: string): Promise<boolean> {
    const reading = this._reading.get(id) ?? new LatestRequest();
    this._reading.set(id, reading);
    try {
      const item = await reading.run(signal => this._api.item(id, signal));
      if (item) {
        this._put(id, { item, problem: null });
      }
      return item !== undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) {
        throw error;
      }
      this._refused(id, error);
      return false;
    }
  }

  private _refused(id: string, problem: ApiError): void {
    if (problem.reason === NO_MEMORY) {
      this._drop(id);
      this._lost.emit({ id, problem });
      return;
    }
    // A text that is loaded already stays readable.
    const item = this._all.get(id)?.item ?? null;
    this._put(id, { item, problem: item ? null : problem });
    this._failed.emit(problem);
  }

  private _put(id: string, text: IWholeText): void {
    this._all = new Map(this._all).set(id, text);
    this._changed.emit();
  }

  private _drop(id: string): void {
    this._reading.get(id)?.stop();
    this._reading.delete(id);
    this._all = new Map([...this._all].filter(([other]) => other !== id));
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _lost = new Signal<this, ILost>(this);
  private readonly _failed = new Signal<this, ApiError>(this);
  private readonly _reading = new Map<string, LatestRequest>();
  private _all: ReadonlyMap<string, IWholeText> = new Map();
  private _lastToggled: string | null = null;
  private _about = '';
}
