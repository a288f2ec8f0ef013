/** After the server took in what Lab did to files: what is shown is asked for again, once somebody sees it. */

import type { Event } from '@jupyterlab/services';

import type { IndexModel } from '../models/indexModel';
import type { SearchModel } from '../models/searchModel';

/** Events of the server that tell of files which were saved, renamed or deleted, once a search knows it. */
export const CHANGES = 'https://jupyter-memory.readthedocs.io/events/changes/v1';

export interface IRenewalOptions {
  model: SearchModel;
  index: IndexModel;
  /** Lab's event bus. Without it nothing is heard of. */
  events: Event.IManager | undefined;
  /** Whether somebody sees the answer. */
  isSeen: () => boolean;
}

export class Renewal {
  constructor(private readonly _options: IRenewalOptions) {
    const { model, events } = _options;
    events?.stream.connect(this._hear, this);
    model.stateChanged.connect(this._look, this);
  }

  dispose(): void {
    const { model, events } = this._options;
    events?.stream.disconnect(this._hear, this);
    model.stateChanged.disconnect(this._look, this);
  }

  /** Whether what is shown is of the time before a change. */
  get isOld(): boolean {
    return this._isOld;
  }

  /** Ask for the answer again. */
  renew(): void {
    this._isOld = false;
    void this._options.model.lookAgain();
  }

  private _look(): void {
    const { model, isSeen } = this._options;
    // An answer that is on its way may be of the time before, too: it is waited for.
    if (this._isOld && !model.isLoading && isSeen()) {
      this.renew();
    }
  }

  private _hear(_: unknown, { schema_id }: Event.Emission): void {
    const { model, index } = this._options;
    const isAsked = model.answer !== null || model.isLoading;
    // While something is indexed changes may come one after the other; the answer is renewed when that is over.
    if (schema_id === CHANGES && isAsked && !index.isIndexing) {
      this._isOld = true;
      this._look();
    }
  }

  private _isOld = false;
}
