/** What outlives a page: the settings of the panel, and the last question in Lab's state database. */

import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { IStateDB } from '@jupyterlab/statedb';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { Debouncer } from '@lumino/polling';

import type { IFilters } from '../api/types';
import type { IScope } from '../models/answers';
import { FILTERS } from '../models/filters';
import type { RelatedCells } from '../models/relatedCells';
import type { IPersistedState, Narrowing, SearchModel } from '../models/searchModel';

/** Follow the settings of a plugin, then restore the last question if it is kept. */
export async function followSettings(
  registry: ISettingRegistry | null,
  id: string,
  { model, related, keeper }: { model: SearchModel; related: RelatedCells; keeper: Persistence | null }
): Promise<void> {
  // Without the extension's schema on the server, the panel works with its defaults.
  const settings = await registry?.load(id).catch(() => null);
  if (settings) {
    let grouped: unknown;
    const apply = (): void => {
      const { density, searchDelay, pageSize, groupByNotebook, rememberQuery, undoSeconds, relatedCells } =
        settings.composite;
      model.answers.configure({ delay: searchDelay as number, page: pageSize as number });
      if (typeof undoSeconds === 'number') {
        model.undo.delay = 1000 * undoSeconds;
      }
      model.selection.set({ dense: density !== 'comfortable' });
      // A choice in the panel holds until the setting itself changes.
      if (groupByNotebook !== grouped) {
        grouped = groupByNotebook;
        model.selection.setGrouped(groupByNotebook === true);
      }
      related.isOn = relatedCells === true;
      if (keeper) {
        keeper.isOn = rememberQuery !== false;
      }
    };
    apply();
    settings.changed.connect(apply);
    related.onChosen = on => void settings.set('relatedCells', on);
  }
  await keeper?.restore();
}

const KEY = 'jupyter-memory:question';

/** What narrows the search, in the browser's own storage for one session. */
const SESSION = 'jupyter-memory:narrowing';

const SAVE_DELAY = 1000;

/** Restores the last question, and saves each question from then on while `isOn` is true. */
export class Persistence {
  constructor(
    private readonly _state: IStateDB,
    private readonly _model: SearchModel
  ) {
    this._saver = new Debouncer(() => this._save(), SAVE_DELAY);
    this._session = parseState(JSON.parse(sessionStorage.getItem(SESSION) ?? 'null')) ?? {};
    _model.restore(this._session);
    _model.stateChanged.connect(() => {
      void this._saver.invoke();
      sessionStorage.setItem(SESSION, JSON.stringify(_model.narrowing));
    });
  }

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

  /** Restore the saved question, unless another one was asked since. */
  async restore(): Promise<void> {
    const kept = parseState(await this._state.fetch(KEY));
    if (kept && this._isOn && !this._model.question.query && !this._model.answer) {
      this._model.restore({ ...kept, ...this._session });
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
  private readonly _session: Partial<Narrowing>;
  private _isOn = true;
  private _isRestored = false;
  private _saved = '';
}

/** The valid parts of a saved state, which another version may have written; null if there are none. */
function parseState(kept: unknown): Partial<IPersistedState & Narrowing> | null {
  if (typeof kept !== 'object' || kept === null) {
    return null;
  }
  const { query, filters, profile, grouped, since, asOf, aboutTags, scope, stores } = kept as Record<string, unknown>;
  return {
    ...(typeof query === 'string' && { query }),
    ...(isFilters(filters) && { filters }),
    ...(typeof profile === 'string' && { profile }),
    ...(typeof grouped === 'boolean' && { grouped }),
    ...(typeof since === 'string' && { since }),
    ...(typeof asOf === 'string' && { asOf }),
    ...(isTexts(aboutTags) && { aboutTags }),
    ...(isScope(scope) && { scope }),
    ...(isTexts(stores) && { stores })
  };
}

function isScope(kept: unknown): kept is IScope {
  const { what, path } = (kept ?? {}) as Record<string, unknown>;
  return (what === 'notebook' || what === 'folder') && typeof path === 'string';
}

function isFilters(kept: unknown): kept is IFilters {
  const isFilter = ([facet, values]: [string, unknown]): boolean =>
    FILTERS.some(one => one === facet) && isTexts(values);
  return typeof kept === 'object' && kept !== null && Object.entries(kept).every(isFilter);
}

function isTexts(kept: unknown): kept is string[] {
  return Array.isArray(kept) && kept.every(value => typeof value === 'string');
}
