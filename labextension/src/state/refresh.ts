/** Asks again without being told to: after changes of files, and once a stopped server answers. */

import type { Event } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';

import { UNREACHABLE } from '../api/memoryApi';
import type { IndexModel } from '../models/indexModel';
import type { SearchModel } from '../models/searchModel';

/** The server's events for files that were saved, renamed or deleted, sent once a search finds the change. */
export const CHANGE_EVENTS = 'https://jupyter-memory.readthedocs.io/events/changes/v1';

/** Asks again after changes of files, once somebody can see the answer. */
export class AutoRefresh {
  /** Without Lab's event bus there are no events. */
  constructor(
    private readonly _model: SearchModel,
    private readonly _index: IndexModel,
    private readonly _isSeen: () => boolean,
    events?: Event.IManager
  ) {
    events?.stream.connect(this._onEvent, this);
    _model.stateChanged.connect(this._refreshIfSeen, this);
  }

  /** Whether the answer is older than the last change; written here alone. */
  isStale = false;

  refresh(): void {
    this.isStale = false;
    void this._model.revalidate();
  }

  dispose(): void {
    Signal.disconnectReceiver(this);
  }

  private _refreshIfSeen(): void {
    // An answer that is on its way may be stale, too: wait for it first.
    if (this.isStale && !this._model.isLoading && this._isSeen()) {
      this.refresh();
    }
  }

  private _onEvent(_: unknown, { schema_id }: Event.Emission): void {
    const isAsked = this._model.answer !== null || this._model.isLoading;
    // Indexing causes many changes; when it has ended, the model repeats the question anyway.
    if (schema_id === CHANGE_EVENTS && isAsked && !this._index.isIndexing) {
      this.isStale = true;
      this._refreshIfSeen();
    }
  }
}

/** Waits until a stopped server answers again, then repeats the question that it did not answer. */
export class Reconnection {
  constructor(
    private readonly _model: SearchModel,
    private readonly _index: IndexModel
  ) {
    _model.stateChanged.connect(this._onChange, this);
  }

  dispose(): void {
    this._isDisposed = true;
    Signal.disconnectReceiver(this);
  }

  private _onChange(): void {
    if (!this._isUnreachable) {
      this._hasGivenUp = false;
    } else if (!this._isWaiting && !this._hasGivenUp) {
      void this._reconnect();
    }
  }

  private async _reconnect(): Promise<void> {
    this._isWaiting = true;
    try {
      await this._index.nextStatus();
      if (this._isUnreachable && !this._isDisposed) {
        await this._model.refresh();
      }
    } finally {
      // A server that answers with its status but with no results is not asked for ever.
      this._hasGivenUp = this._isUnreachable && this._model.status !== null;
      this._isWaiting = false;
    }
    if (!this._isDisposed) {
      this._onChange();
    }
  }

  private get _isUnreachable(): boolean {
    return this._model.problem?.reason === UNREACHABLE;
  }

  private _isDisposed = false;
  private _hasGivenUp = false;
  private _isWaiting = false;
}
