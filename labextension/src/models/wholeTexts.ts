/** The whole texts of memories, each fetched when its card is unfolded in the list. */

import { Signal } from '@lumino/signaling';

import { type ApiError, type MemoryApi, NO_MEMORY, refusalOf } from '../api/memoryApi';
import { LatestRequest } from '../api/requests';
import type { IItem, IVersions } from '../api/types';
import type { IRefused } from './hits';

export interface IWholeText {
  readonly item: IItem | null;
  readonly problem: ApiError | null;
}

export class WholeTexts {
  constructor(private readonly _api: Pick<MemoryApi, 'item' | 'access' | 'versions'>) {}

  /** What ran in the cell of a memory, or why the server does not tell. */
  readonly versions = (id: string): Promise<IVersions | ApiError> => this._api.versions(id).catch(refusalOf);

  readonly changed = new Signal<this, void>(this);
  readonly lost = new Signal<this, IRefused>(this);
  readonly failed = new Signal<this, ApiError>(this);

  // What follows is written here alone.
  /** The unfolded cards by memory id; a new map after each change. */
  all: ReadonlyMap<string, IWholeText> = new Map();
  /** Id of the memory whose card was unfolded or folded last, or null. */
  lastToggled: string | null = null;

  toggle(id: string): void {
    if (this.all.has(id)) {
      this.fold(id);
    } else {
      this.unfold(id);
    }
  }

  unfold(id: string): void {
    if (!this.all.has(id)) {
      this.lastToggled = id;
      this._put(id, { item: null, problem: null });
      void this._read(id).then(isHere => (isHere ? this._api.access(id) : undefined));
    }
  }

  fold(id: string): void {
    if (this.all.has(id)) {
      this.lastToggled = id;
      this._drop(id);
      this.changed.emit();
    }
  }

  /** Fetch the text of an unfolded card, for the first time or again. */
  read(id: string): void {
    this._put(id, { item: this.all.get(id)?.item ?? null, problem: null });
    void this._read(id);
  }

  /** Take a new answer. If it belongs to the same question, the cards stay unfolded and their texts are read again. */
  answered(about: string, ids: readonly string[]): void {
    const there = new Set(about === this._about ? ids : []);
    const gone = [...this.all.keys()].filter(id => !there.has(id));
    this._about = about;
    gone.forEach(id => this._drop(id));
    // If the card comes back with a later question, a screen reader does not announce it again.
    const isDropped = this.lastToggled !== null && !there.has(this.lastToggled);
    this.lastToggled = isDropped ? null : this.lastToggled;
    if (gone.length || isDropped) {
      this.changed.emit();
    }
    [...this.all.keys()].forEach(id => void this._read(id));
  }

  dispose(): void {
    this._reading.forEach(one => one.stop());
    Signal.clearData(this);
  }

  private async _read(id: string): Promise<boolean> {
    const reading = this._reading.get(id) ?? new LatestRequest();
    this._reading.set(id, reading);
    try {
      const item = await reading.run(signal => this._api.item(id, { signal }));
      if (item) {
        this._put(id, { item, problem: null });
      }
      return item !== undefined;
    } catch (error) {
      const problem = refusalOf(error);
      if (problem.reason === NO_MEMORY) {
        this._drop(id);
        this.lost.emit({ id, error: problem });
      } else {
        // A text that is loaded already stays readable.
        const item = this.all.get(id)?.item ?? null;
        this._put(id, { item, problem: item ? null : problem });
        this.failed.emit(problem);
      }
      return false;
    }
  }

  private _put(id: string, text: IWholeText): void {
    this.all = new Map(this.all).set(id, text);
    this.changed.emit();
  }

  private _drop(id: string): void {
    this._reading.get(id)?.stop();
    this._reading.delete(id);
    this.all = new Map([...this.all].filter(([other]) => other !== id));
  }

  private readonly _reading = new Map<string, LatestRequest>();
  private _about = '';
}
