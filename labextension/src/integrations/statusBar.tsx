/** The item in the status bar that shows the progress of indexing. */

import { GroupItem, type IStatusBar, ProgressBar, TextItem } from '@jupyterlab/statusbar';
import type { TranslationBundle } from '@jupyterlab/translation';
import { VDomRenderer } from '@jupyterlab/ui-components';

import type { IndexModel } from '../models/indexModel';
import type { IProgress } from '../models/jobList';

export interface IIndexingProps {
  progress: IProgress;
  trans: TranslationBundle;
  onClick(): void;
}

/** The progress of indexing; nothing while no job is active. */
export function Indexing({ progress, trans, onClick }: IIndexingProps): JSX.Element | null {
  const { phase, done, total } = progress;
  if (phase === 'idle') {
    return null;
  }
  return (
    <button
      type="button"
      className="jp-Memory-statusButton"
      title={trans.__('Memory: show what is indexed')}
      onClick={onClick}
    >
      <GroupItem spacing={6}>
        <TextItem
          source={total === null ? trans.__('Indexing: %1', done) : trans.__('Indexing: %1 of %2', done, total)}
        />
        {!!total && <ProgressBar percentage={(100 * done) / total} content="" />}
      </GroupItem>
    </button>
  );
}

class IndexingItem extends VDomRenderer<IndexModel> {
  constructor(
    model: IndexModel,
    private readonly _props: Omit<IIndexingProps, 'progress'>
  ) {
    super(model);
    this.addClass('jp-Memory-status');
    this.addClass('jp-mod-highlighted');
  }

  protected render(): JSX.Element {
    return <Indexing progress={this.model.progress} {...this._props} />;
  }
}

/** Add the item to the status bar. It is hidden while nothing is indexed. */
export function addStatusItem(bar: IStatusBar, model: IndexModel, trans: TranslationBundle, onClick: () => void): void {
  bar.registerStatusItem('jupyter-memory:indexing', {
    item: new IndexingItem(model, { trans, onClick }),
    align: 'middle',
    rank: 10,
    isActive: () => model.isIndexing,
    activeStateChanged: model.stateChanged
  });
}
