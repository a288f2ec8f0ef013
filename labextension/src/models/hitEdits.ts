/** Changes that a person makes to hits: each shows at once, and is taken back where the server refuses it. */

import { type ISignal, Signal } from '@lumino/signaling';

import { ApiError, type MemoryApi } from '../api/memoryApi';
import { SerialQueue } from '../api/serialQueue';
import type { IHit, IItem, IPlace } from '../api/types';
import type { Answers } from './answers';
import { hitIn, type IPlacedHit, patched } from './hits';

/** The server refused a change of a hit. */
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
