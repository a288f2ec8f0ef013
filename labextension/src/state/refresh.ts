/** After the server took in what Lab did to files: what is shown is asked for again, once somebody sees it. */

import type { Event } from '@jupyterlab/services';

import type { IndexModel } from '../models/indexModel';
import type { SearchModel } from '../models/searchModel';

/** Events of the server that tell of files which were saved, renamed or deleted, once a search knows it. */
export const CHANGE_EVENTS = 'https://jupyter-memory.readthedocs.io/events/changes/v1';

export interface IAutoRefreshOptions {
  model: SearchModel;
  index: IndexModel;
  /** Lab's event bus. Without it nothing is heard of. */
  events: Event.IManager | undefined;
  /** Whether somebody sees the answer. */
  isSeen: () => boolean;
}

export class AutoRefresh {
  constructor(private readonly _options: IAutoRefreshOptions) {
    const { model, events } = _options;
    events?.stream.connect(this._onEvent, this);
    model.stateChanged.connect(this._refreshIfSeen, this);
  }

  dispose(): void {
    const { model, events } = this._options;
    events?.stream.disconnect(this._onEvent, this);
    model.stateChanged.disconnect(this._refreshIfSeen, this);
  }

  /** Whether what is shown is of the time before a change. */
  get isStale(): boolean {
    return this._isStale;
  }

  /** Ask for the answer again. */
  refresh(): void {
    this._isStale = false;
    void this._options.model.revalidate();
  }

  private _refreshIfSeen(): void {
    const { model, isSeen } = this._options;
    // An answer that is on its way may be of the time before, too: it is waited for.
    if (this._isStale && !model.isLoading && isSeen()) {
      this.refresh();
    }
  }

  private _onEvent(_: unknown, { schema_id }: Event.Emission): void {
    const { model, index } = this._options;
    const isAsked = model.answer !== null || model.isLoading;
    // While something is indexed changes may come one after the other; the answer is renewed when that is over.
    if (schema_id === CHANGE_EVENTS && isAsked && !index.isIndexing) {
      this._isStale = true;
      this._refreshIfSeen();
    }
  }

  private _isStale = false;
}
