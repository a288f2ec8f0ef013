/** Keeps the last question and its filters over a reload, in Lab's own state database. */

import type { IStateDB } from '@jupyterlab/statedb';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { Debouncer } from '@lumino/polling';

import type { IFilters } from '../api/types';
import { FILTERS } from '../models/filters';
import type { IPersistedState, SearchModel } from '../models/searchModel';

const KEY = 'jupyter-memory:question';

/** Milliseconds without a change before the state is written. */
const SAVE_DELAY = 1000;

/** Takes up what was kept, and keeps what is asked from then on, unless it is told not to. */
export class Persistence {
  constructor(
    private readonly _state: IStateDB,
    private readonly _model: SearchModel
  ) {
    this._saver = new Debouncer(() => this._save(), SAVE_DELAY);
    _model.stateChanged.connect(() => void this._saver.invoke());
  }

  /** Whether the question is kept. What was kept goes when it is no longer. */
  get isOn(): boolean {
    return this._isOn;
  }
  set isOn(on: boolean) {
    this._isOn = on;
    if (!on) {
      this._saved = '';
      void this._state.remove(KEY);
    }
  }

  /** Take up what was kept; a question that was asked since is left as it is. */
  async restore(): Promise<void> {
    const kept = parseState(await this._state.fetch(KEY));
    if (kept && this._isOn && !this._model.query && !this._model.answer) {
      this._model.restore(kept);
    }
    this._isRestored = true;
  }

  private async _save(): Promise<void> {
    if (!this._isOn || !this._isRestored || this._model.isDisposed) {
      return;
    }
    const state = this._model.toJSON();
    const text = JSON.stringify(state);
    if (text !== this._saved) {
      this._saved = text;
      await this._state.save(KEY, state as unknown as ReadonlyPartialJSONObject);
    }
  }

  private readonly _saver: Debouncer;
  private _isOn = true;
  private _isRestored = false;
  private _saved = '';
}

/** What can be taken up of what was kept, be it by another version; null where there is nothing. */
function parseState(kept: unknown): Partial<IPersistedState> | null {
  if (typeof kept !== 'object' || kept === null) {
    return null;
  }
  const { query, filters, profile, grouped } = kept as Record<string, unknown>;
  return {
    ...(typeof query === 'string' && { query }),
    ...(isFilters(filters) && { filters }),
    ...(typeof profile === 'string' && { profile }),
    ...(typeof grouped === 'boolean' && { grouped })
  };
}

function isFilters(kept: unknown): kept is IFilters {
  const isFilter = ([facet, values]: [string, unknown]): boolean =>
    FILTERS.some(one => one === facet) && Array.isArray(values) && values.every(value => typeof value === 'string');
  return typeof kept === 'object' && kept !== null && Object.entries(kept).every(isFilter);
}
