/** The progress of indexing outside of the panel: in the status bar, and as notifications. */

import { Notification } from '@jupyterlab/apputils';
import { GroupItem, type IStatusBar, ProgressBar, TextItem } from '@jupyterlab/statusbar';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget, UseSignal } from '@jupyterlab/ui-components';

import type { IJob } from '../api/types';
import { endText } from '../components/index/folders';
import { withMarks } from '../components/shared/text';
import { type IndexModel, type IProgress, isActive } from '../models/indexModel';

interface IIndexingProps {
  progress: IProgress;
  trans: TranslationBundle;
  onClick(): void;
}

export function Indexing({ progress, trans, onClick }: IIndexingProps): JSX.Element | null {
  const { phase, done, total } = progress;
  if (phase === 'idle') {
    return null;
  }
  return (
    <button className="jp-Memory-statusButton" title={trans.__('Memory: show what is indexed')} onClick={onClick}>
      <GroupItem spacing={6}>
        <TextItem
          source={total === null ? trans.__('Indexing: %1', done) : trans.__('Indexing: %1 of %2', done, total)}
        />
        {!!total && <ProgressBar percentage={(100 * done) / total} content="" />}
      </GroupItem>
    </button>
  );
}

export function addStatusItem(bar: IStatusBar, model: IndexModel, trans: TranslationBundle, onClick: () => void): void {
  const item = ReactWidget.create(
    <UseSignal signal={model.stateChanged}>
      {() => <Indexing progress={model.progress} trans={trans} onClick={onClick} />}
    </UseSignal>
  );
  item.addClass('jp-Memory-status');
  item.addClass('jp-mod-highlighted');
  bar.registerStatusItem('jupyter-memory:indexing', {
    item,
    align: 'middle',
    rank: 10,
    isActive: () => model.progress.phase === 'indexing',
    activeStateChanged: model.stateChanged
  });
}

export function notifyJob(index: IndexModel, started: IJob, named: string, trans: TranslationBundle): void {
  const name = withMarks(named);
  const id = Notification.emit(trans.__('Indexing %1 …', name), 'in-progress', { autoClose: false });
  const follow = (): void => {
    const job = index.jobs.find(one => one.job_id === started.job_id);
    if (job && isActive(job)) {
      return;
    }
    index.stateChanged.disconnect(follow);
    if (job) {
      const isLost = index.isInterrupted(job);
      const message = endText(job, isLost, name, trans);
      Notification.update({ id, message, type: isLost ? 'warning' : typeOf(job), autoClose: 6000 });
    } else {
      Notification.dismiss(id);
    }
  };
  index.stateChanged.connect(follow);
  follow();
}

function typeOf(job: IJob): 'success' | 'warning' | 'error' | 'info' {
  if (job.state === 'failed') {
    return 'error';
  }
  return job.state === 'cancelled' ? 'info' : job.failed.length ? 'warning' : 'success';
}
