/** The hits of an answer, and what a person does to them: select, group, change, delete. */

import { Signal } from '@lumino/signaling';

import { type ApiError, type MemoryApi, refusalOf } from '../api/memoryApi';
import { SerialQueue } from '../api/requests';
import type { IAnswer, IHit, IItem, IPlace } from '../api/types';
import type { Answers } from './answers';

/** Whether a hit is what was looked for; the last: it is, and should have been the first. */
export type Verdict = boolean | 'first';

export interface IPlacedHit {
  hit: IHit;
  place: IPlace;
}

export function visibleHits(answer: IAnswer | null, isHidden: (id: string) => boolean): IPlacedHit[] {
  return (answer?.hits ?? [])
    .map((hit, i) => ({ hit, place: answer!.places[i] }))
    .filter(one => !isHidden(one.hit.memory_id));
}

function hitIn(answer: IAnswer | null, id: string): IPlacedHit | undefined {
  return visibleHits(answer, other => other !== id)[0];
}

type Change = [Partial<IHit>, Partial<IPlace>];

/** The answer with one of its hits changed; the same answer if it has no such hit. */
function patched(answer: IAnswer | null, id: string, [hit, place]: Change): IAnswer | null {
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

/** What a person picked in the list of hits, and how the list is laid out. */
export class Selection {
  readonly changed = new Signal<this, void>(this);

  // What follows is written here alone.
  id: string | null = null;
  /** Whether hits are listed under their notebook. */
  grouped = false;
  folded: ReadonlySet<string> = new Set();
  /** Whether hits are rows of a dense list, those of a section folded into one, or cards. */
  dense = true;
  opened: ReadonlySet<string> = new Set();
  /** Whether the overlay shows the hits, in place of the panel. */
  overlaid = false;
  tagging: string | null = null;

  select(id: string | null): void {
    if (id !== this.id) {
      this.id = id;
      this.tagging = null;
      this.changed.emit();
    }
  }

  setGrouped(grouped: boolean): void {
    this.grouped = grouped;
    this.foldAll([]);
  }

  set(change: Partial<Pick<Selection, 'dense' | 'overlaid' | 'tagging'>>): void {
    Object.assign(this, change);
    this.changed.emit();
  }

  openSection(section: string, on: boolean): void {
    const others = [...this.opened].filter(one => one !== section);
    this.opened = new Set(on ? [...others, section] : others);
    this.changed.emit();
  }

  fold(source: string, on: boolean): void {
    const others = [...this.folded].filter(one => one !== source);
    this.foldAll(on ? [...others, source] : others);
  }

  foldAll(sources: Iterable<string>): void {
    this.folded = new Set(sources);
    this.changed.emit();
  }
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
  readonly changed = new Signal<this, void>(this);
  readonly refused = new Signal<this, IRefused>(this);

  pin(id: string, on: boolean): Promise<void> {
    return this._change(id, [{}, { pinned: on }], () => this._api.pin(id, on));
  }

  tag(id: string, tags: string[]): Promise<void> {
    return this._change(id, [{ tags }, {}], () => this._api.update({ memory_id: id, tags }));
  }

  /** A person's feedback on a hit; undefined if there is none yet. */
  accepted(id: string): Verdict | undefined {
    return this._accepted.get(id);
  }

  /** Rate a hit; the same rating once more takes it back. */
  async accept(id: string, pressed: Verdict): Promise<void> {
    const said = this._accepted.get(id) === pressed ? undefined : pressed;
    if (!this._feedbackQueue.isRunning(id)) {
      this._confirmedFeedback.set(id, this._accepted.get(id));
    }
    this._accepted.set(id, said);
    this.changed.emit();
    const asked = this._answers.showing.what === 'search' && this._answers.answer;
    const about = asked ? { query_id: asked.query_id, query: asked.query, profile: asked.profile } : {};
    const verdict = said === 'first' ? { accepted: true, first: true } : { accepted: said ?? null };
    const feedback = { memory_id: id, ...verdict, rank: hitIn(this._answers.answer, id)?.hit.rank, ...about };
    try {
      await this._feedbackQueue.run(id, () => this._api.feedback(feedback));
      this._confirmedFeedback.set(id, said);
    } catch (error) {
      if (!this._feedbackQueue.isRunning(id)) {
        this._accepted.set(id, this._confirmedFeedback.get(id));
      }
      this.refused.emit({ id, error: refusalOf(error) });
    }
  }

  /** Show a change, then the server's result of it, or take it back if refused. The last change of a memory decides. */
  private async _change(id: string, change: Change, send: () => Promise<IItem>): Promise<void> {
    const before = hitIn(this._answers.answer, id);
    this._answers.replace(patched(this._answers.answer, id, change));
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
      this.refused.emit({ id, error: refusalOf(error) });
    }
  }

  private _showConfirmed(id: string): void {
    const confirmed = this._confirmed.get(id);
    if (confirmed && !this._updateQueue.isRunning(id)) {
      this._confirmed.delete(id);
      this._answers.replace(patched(this._answers.answer, id, confirmed));
    }
  }

  private readonly _accepted = new Map<string, Verdict | undefined>();
  /** The feedback that the server has confirmed, while a newer one is on its way. */
  private readonly _confirmedFeedback = new Map<string, Verdict | undefined>();
  /** What the server has confirmed of a hit; the list shows newer changes before that. */
  private readonly _confirmed = new Map<string, Change>();
  private readonly _updateQueue = new SerialQueue();
  private readonly _feedbackQueue = new SerialQueue();
}

/** A memory that is hidden from the list, but not yet deleted from the store. */
export interface IDeletion {
  id: string;
  title: string;
}

/** Sends each deletion after `delay`, or at once with `flush`. */
export class UndoDelete {
  constructor(private readonly _api: MemoryApi) {}

  /** Milliseconds in which a deletion can be undone. */
  delay = 6000;

  /** The server forgot memories, or refused with this error: then they are back. */
  readonly settled = new Signal<this, ApiError | null>(this);

  version = 0;

  get waiting(): IDeletion[] {
    return [...this._waiting.values()].map(one => one.what);
  }

  /** Whether a memory is hidden: its deletion waits, is being sent, or is done. */
  has(id: string): boolean {
    return this._waiting.has(id) || this._gone.has(id);
  }

  add(what: IDeletion): void {
    this.undo(what.id);
    this._waiting.set(what.id, { what, timer: this._startTimer(what.id) });
  }

  pause(id: string): void {
    clearTimeout(this._waiting.get(id)?.timer);
  }

  resume(id: string): void {
    this.pause(id);
    const one = this._waiting.get(id);
    if (one) {
      one.timer = this._startTimer(id);
    }
  }

  undo(id: string): void {
    this.version++;
    this.pause(id);
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

  private _startTimer(id: string): ReturnType<typeof setTimeout> {
    return setTimeout(() => void this._send([id]), this.delay);
  }

  private async _send(ids: string[], keepalive = false): Promise<void> {
    ids.forEach(id => this.markGone(id));
    try {
      await this._api.forget({ memory_ids: ids }, keepalive);
      this.settled.emit(null);
    } catch (error) {
      this.version++;
      ids.forEach(id => this._gone.delete(id));
      this.settled.emit(refusalOf(error));
    }
  }

  private readonly _waiting = new Map<string, { what: IDeletion; timer: ReturnType<typeof setTimeout> }>();
  private readonly _gone = new Set<string>();
}
