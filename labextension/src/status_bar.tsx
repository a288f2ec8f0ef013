/** An item in the status bar while something is indexed. */

import { type IStatusBar, GroupItem, ProgressBar, TextItem } from '@jupyterlab/statusbar';
import type { TranslationBundle } from '@jupyterlab/translation';
import { VDomRenderer } from '@jupyterlab/ui-components';

import type { IndexModel } from './index_model';

/** Shows how far the indexing is; a click opens the panel. */
export class IndexingItem extends VDomRenderer<IndexModel> {
  constructor(
    model: IndexModel,
    private readonly _trans: TranslationBundle,
    private readonly _onClick: () => void
  ) {
    super(model);
    this.addClass('jp-Memory-status');
    this.addClass('jp-mod-highlighted');
  }

  protected render(): JSX.Element | null {
    const { phase, done, total } = this.model.progress;
    if (phase === 'idle') {
      return null;
    }
    const told =
      total === null ? this._trans.__('Indexing: %1', done) : this._trans.__('Indexing: %1 of %2', done, total);
    return (
      <button
        type="button"
        className="jp-Memory-statusButton"
        title={this._trans.__('Memory: show what is indexed')}
        onClick={this._onClick}
      >
        <GroupItem spacing={6}>
          <TextItem source={told} />
          {!!total && <ProgressBar percentage={(100 * done) / total} content="" />}
        </GroupItem>
      </button>
    );
  }
}

/** Put the item into the status bar. It takes no room while nothing is indexed. */
export function addStatusItem(bar: IStatusBar, model: IndexModel, trans: TranslationBundle, onClick: () => void): void {
  bar.registerStatusItem('jupyter-memory:indexing', {
    item: new IndexingItem(model, trans, onClick),
    align: 'middle',
    rank: 10,
    isActive: () => model.isIndexing,
    activeStateChanged: model.stateChanged
  });
}
