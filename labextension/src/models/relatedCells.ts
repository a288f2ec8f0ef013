/** The cells that are like the one a person works on: asked for when they pause, as long as somebody wants to know. */

import { VDomModel } from '@jupyterlab/ui-components';

import { API, type MemoryApi, refusalOf } from '../api/memoryApi';
import { LatestRequest } from '../api/requests';
import type { IAnswer, IRelatedTo } from '../api/types';
import { within } from './answers';
import type { SearchModel } from './searchModel';

/** Milliseconds without a change of the cell before anything is asked. */
const PAUSE = 800;

/** A shorter text is like everything. */
const SHORTEST = 30;

const LONGEST = 4000;

/** Milliseconds after an announcement in which a screen reader hears no other one. */
const QUIET = 60_000;

export interface IWorkedOn {
  text: string;
  /** Contents path of its notebook. */
  path: string;
  id: string;
}

export interface IRelatedCellsOptions {
  api: MemoryApi;
  search: SearchModel;
  isSeen(): boolean;
}

/** Off until `isOn` is set. */
export class RelatedCells extends VDomModel {
  constructor(private readonly _options: IRelatedCellsOptions) {
    super();
    _options.search.stateChanged.connect(this.look, this);
  }

  get isOn(): boolean {
    return this._isOn;
  }
  set isOn(on: boolean) {
    if (on !== this._isOn) {
      this._isOn = on;
      this._forget();
      this.look();
      this.stateChanged.emit();
    }
  }

  /** Turn it on or off in the panel; the setting follows. */
  choose(on: boolean): void {
    this.isOn = on;
    this.onChosen(on);
  }

  onChosen: (on: boolean) => void = () => undefined;

  /** How many cells are like this one; 0 also while that is not known. */
  get count(): number {
    return this._answer?.hits.length ?? 0;
  }

  /** Whether a screen reader hears the number: now and then, not at every cell. */
  isAnnounced = false;

  /** Take the active cell, after every change of it or of its text; null where there is none. */
  follow(cell: IWorkedOn | null): void {
    if (cell?.id !== this._cell?.id || cell?.path !== this._cell?.path) {
      this._forget();
    }
    this._cell = cell;
    this.look();
  }

  /** Ask once nothing has changed for a while, unless this was asked already. */
  look(): void {
    const asked = this._wanted;
    const key = JSON.stringify(asked);
    if (key === this._key) {
      return;
    }
    this._key = key;
    clearTimeout(this._timer);
    this._latest.stop();
    if (asked) {
      this._timer = setTimeout(() => void this._ask(asked), PAUSE);
    } else {
      this._take(null);
    }
  }

  async show(): Promise<void> {
    const { text, path } = this._asked ?? {};
    if (text !== undefined) {
      await this._options.search.answers.turnTo({ what: 'cell', text, path });
    }
  }

  override dispose(): void {
    clearTimeout(this._timer);
    this._latest.stop();
    super.dispose();
  }

  private get _wanted(): IRelatedTo | null {
    const { search, isSeen } = this._options;
    const text = this._cell?.text.trim() ?? '';
    const hasMemories = search.status?.api === API && search.status.store.memories > 0;
    if (!this._isOn || !this._cell || text.length < SHORTEST || !hasMemories || !isSeen()) {
      return null;
    }
    const { filters, since } = within(search.answers.question);
    return { text: text.slice(0, LONGEST), path: this._cell.path, filters, ...(since && { since }) };
  }

  private async _ask(asked: IRelatedTo): Promise<void> {
    try {
      const answer = await this._latest.run(signal => this._options.api.relatedTo(asked, signal));
      if (answer) {
        this._asked = asked;
        this._take(answer);
      }
    } catch (error) {
      refusalOf(error);
      // Nobody asked for it, so nobody is told that it failed.
      this._take(null);
    }
  }

  private _take(answer: IAnswer | null): void {
    if (answer === this._answer || this.isDisposed) {
      return;
    }
    this._answer = answer;
    this.isAnnounced = this.count > 0 && Date.now() - this._announced > QUIET;
    this._announced = this.isAnnounced ? Date.now() : this._announced;
    this.stateChanged.emit();
  }

  private _forget(): void {
    this._key = '';
    clearTimeout(this._timer);
    this._latest.stop();
    this._take(null);
  }

  private readonly _latest = new LatestRequest();
  private _isOn = false;
  private _cell: IWorkedOn | null = null;
  private _key = '';
  private _asked: IRelatedTo | null = null;
  private _answer: IAnswer | null = null;
  private _announced = -QUIET;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}
