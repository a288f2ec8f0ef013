/** What a person picked in the list of hits, and how the list is laid out: grouped, with some groups folded. */

import { type ISignal, Signal } from '@lumino/signaling';

export class Selection {
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Id of the memory that is selected, or null. */
  get id(): string | null {
    return this._id;
  }

  /** Whether hits are listed under their notebook. */
  get grouped(): boolean {
    return this._grouped;
  }

  /** Sources whose hits are hidden. */
  get folded(): ReadonlySet<string> {
    return this._folded;
  }

  select(id: string | null): void {
    if (id !== this._id) {
      this._id = id;
      this._changed.emit();
    }
  }

  setGrouped(grouped: boolean): void {
    this._grouped = grouped;
    this.foldAll([]);
  }

  /** Hide or show the hits of a source. */
  fold(source: string, on: boolean): void {
    const others = [...this._folded].filter(one => one !== source);
    this.foldAll(on ? [...others, source] : others);
  }

  /** Hide the hits of these sources, and of no others. */
  foldAll(sources: Iterable<string>): void {
    this._folded = new Set(sources);
    this._changed.emit();
  }

  private readonly _changed = new Signal<this, void>(this);
  private _id: string | null = null;
  private _grouped = false;
  private _folded: ReadonlySet<string> = new Set();
}
