/** After the server stopped: waits until it answers again, and asks what it did not answer. */

import { UNREACHABLE } from '../api/memoryApi';
import type { IndexModel } from '../models/indexModel';
import type { SearchModel } from '../models/searchModel';

export class Recovery {
  constructor(
    private readonly _model: SearchModel,
    private readonly _index: IndexModel
  ) {
    _model.stateChanged.connect(this._follow, this);
  }

  dispose(): void {
    this._isDisposed = true;
    this._model.stateChanged.disconnect(this._follow, this);
  }

  private _follow(): void {
    if (!this._isAway) {
      this._isSpent = false;
    } else if (!this._isWaiting && !this._isSpent) {
      void this._recover();
    }
  }

  private async _recover(): Promise<void> {
    this._isWaiting = true;
    try {
      await this._index.reached();
      if (this._isAway && !this._isDisposed) {
        await this._model.refresh();
      }
    } finally {
      // A server that tells its status and answers no question is not asked for ever.
      this._isSpent = this._isAway && this._model.status !== null;
      this._isWaiting = false;
    }
    if (!this._isDisposed) {
      this._follow();
    }
  }

  private get _isAway(): boolean {
    return this._model.problem?.reason === UNREACHABLE;
  }

  private _isDisposed = false;
  private _isSpent = false;
  private _isWaiting = false;
}
