/** Waits until a stopped server answers again, then repeats the question that it did not answer. */

import { UNREACHABLE } from '../api/memoryApi';
import type { IndexModel } from '../models/indexModel';
import type { SearchModel } from '../models/searchModel';

export class Reconnection {
  constructor(
    private readonly _model: SearchModel,
    private readonly _index: IndexModel
  ) {
    _model.stateChanged.connect(this._onChange, this);
  }

  dispose(): void {
    this._isDisposed = true;
    this._model.stateChanged.disconnect(this._onChange, this);
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
