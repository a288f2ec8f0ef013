/** The hits of an answer, and what a person does to them: select, group, change, delete. */

import { type ISignal, Signal } from '@lumino/signaling';

import { ApiError, type MemoryApi } from '../api/memoryApi';
import { SerialQueue } from '../api/requests';
import type { IAnswer, IHit, IItem, IPlace } from '../api/types';
import type { Answers } from './answers';

export interface IPlacedHit {
  hit: IHit;
  place: IPlace;
}

export function visibleHits(answer: IAnswer | null, isHidden: (id: string) => boolean): IPlacedHit[] {
  return (answer?.hits ?? [])
    .map((hit, i) => ({ hit, place: answer!.places[i] }))
    .filter(one => !isHidden(one.hit.memory_id));
}

export function hitIn(answer: IAnswer | null, id: string): IPlacedHit | undefined {
  return visibleHits(answer, other => other !== id)[0];
}

/** The answer with one of its hits changed; the same answer if it has no such hit. */
export function patched(
  answer: IAnswer | null,
  id: string,
  hit: Partial<IHit>,
  place: Partial<IPlace>
): IAnswer | null {
  const at = answer?.hits.findIndex(one => one.memory_id === id) ?? -1;
  if (!answer || at < 0) {
    return answer;
  }
  return {
    ...answer,
    hits: answer.hits.map((one, i) => (i === at ? { ...one, ...hit } : one)),
    places: answer.places.map((one, i) => (i === at ? { ...one, ...place } : one))
  };
}

/** Id of the hit after this one, or before it if it is the last. */
export function neighbour(hits: readonly IPlacedHit[], id: string): string | null {
  const at = hits.findIndex(one => one.hit.memory_id === id);
  return (hits[at + 1] ?? hits[at - 1])?.hit.memory_id ?? null;
}

export class Selection {
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get id(): string | null {
    return this._id;
  }

  get grouped(): boolean {
    return this._grouped;
  }

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

export interface IRefused {
  id: string;
  error: ApiError;
}

export class HitEdits {
  constructor(
    private readonly _api: MemoryApi,
    private readonly _answers: Answers
  ) {}

  /** Something changed that is not part of the answer. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }
  get refused(): ISignal<this, IRefused> {
    return this._refused;
  }

  pin(id: string, on: boolean): Promise<void> {
    const before = hitIn(this._answers.answer, id);
    this._answers.replace(patched(this._answers.answer, id, {}, { pinned: on }));
    return this._settle(before, id, () => this._api.pin(id, on));
  }

  tag(id: string, tags: string[]): Promise<void> {
    const before = hitIn(this._answers.answer, id);
    this._answers.replace(patched(this._answers.answer, id, { tags }, {}));
    return this._settle(before, id, () => this._api.update({ memory_id: id, tags }));
  }

  /** A person's feedback on a hit: useful, not useful, or none yet. */
  accepted(id: string): boolean | undefined {
    return this._accepted.get(id);
  }

  async accept(id: string, yes: boolean): Promise<void> {
    if (!this._feedbackQueue.isRunning(id)) {
      this._confirmedFeedback.set(id, this._accepted.get(id));
    }
    this._accepted.set(id, yes);
    this._changed.emit();
    const asked = this._answers.showing.what === 'search' && this._answers.answer;
    const about = asked ? { query_id: asked.query_id, query: asked.query, profile: asked.profile } : {};
    const feedback = { memory_id: id, accepted: yes, rank: hitIn(this._answers.answer, id)?.hit.rank, ...about };
    try {
      await this._feedbackQueue.run(id, () => this._api.feedback(feedback));
      this._confirmedFeedback.set(id, yes);
    } catch (error) {
      if (!this._feedbackQueue.isRunning(id)) {
        const was = this._confirmedFeedback.get(id);
        was === undefined ? this._accepted.delete(id) : this._accepted.set(id, was);
      }
      this._refuse(id, error);
    }
  }

  /** Show the server's result of a change, or take a refused change back. The last change of a memory decides. */
  private async _settle(before: IPlacedHit | undefined, id: string, send: () => Promise<IItem>): Promise<void> {
    if (before && !this._updateQueue.isRunning(id)) {
      this._confirmed.set(id, [{ tags: before.hit.tags }, { pinned: before.place.pinned }]);
    }
    try {
      const { tags, tier, title, place } = await this._updateQueue.run(id, send);
      // The hit keeps its own line and headings: those in the response belong to the whole memory.
      this._confirmed.set(id, [{ tags, tier, title }, { pinned: place.pinned }]);
      this._showConfirmed(id);
    } catch (error) {
      this._showConfirmed(id);
      this._refuse(id, error);
    }
  }

  private _showConfirmed(id: string): void {
    const confirmed = this._confirmed.get(id);
    if (confirmed && !this._updateQueue.isRunning(id)) {
      this._confirmed.delete(id);
      this._answers.replace(patched(this._answers.answer, id, ...confirmed));
    }
  }

  private _refuse(id: string, error: unknown): void {
    if (!(error instanceof ApiError)) {
      throw error;
    }
    this._refused.emit({ id, error });
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _refused = new Signal<this, IRefused>(this);
  private readonly _accepted = new Map<string, boolean>();
  /** The feedback that the server has confirmed, while a newer one is on its way. */
  private readonly _confirmedFeedback = new Map<string, boolean | undefined>();
  /** What the server has confirmed of a hit; the list shows newer changes before that. */
  private readonly _confirmed = new Map<string, [Partial<IHit>, Partial<IPlace>]>();
  private readonly _updateQueue = new SerialQueue();
  private readonly _feedbackQueue = new SerialQueue();
}

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

  pause(id: string): void {
    clearTimeout(this._waiting.get(id)?.timer);
  }

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
