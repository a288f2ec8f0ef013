/** Notifies a person about the indexing that they started. */

import { Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { IJob } from '../api/types';
import { interruptedText } from '../components/index/jobs';
import type { IndexModel } from '../models/indexModel';
import { isActive } from '../models/jobList';
import { withMarks } from '../components/shared/withMarks';

/** Show one notification for a job from its start to its end. */
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
      const message = isLost ? interruptedText(name, trans) : messageOf(job, name, trans);
      Notification.update({ id, message, type: isLost ? 'warning' : typeOf(job), autoClose: 6000 });
    } else {
      Notification.dismiss(id);
    }
  };
  index.stateChanged.connect(follow);
  follow();
}

function messageOf(job: IJob, name: string, trans: TranslationBundle): string {
  switch (job.state) {
    case 'cancelled':
      return trans.__('Indexing %1 was stopped. Files already indexed are kept.', name);
    case 'failed':
      return withMarks(job.summary) || trans.__('%1 could not be indexed.', name);
    default:
      return withMarks(job.summary) || trans.__('%1 is indexed.', name);
  }
}

function typeOf(job: IJob): 'success' | 'warning' | 'error' | 'info' {
  if (job.state === 'failed') {
    return 'error';
  }
  return job.state === 'cancelled' ? 'info' : job.failed.length ? 'warning' : 'success';
}
