import { Notification } from '@jupyterlab/apputils';
import { render, screen } from '@testing-library/react';

import { Indexing, notifyJob } from '../../integrations/indexing';
import { IndexModel } from '../../models/indexModel';
import { indexApi, job, status, trans } from '../helpers/samples';
import { advance } from '../helpers/server';

jest.useFakeTimers();
afterEach(() => {
  Notification.dismiss();
  document.body.replaceChildren();
});

async function indexing(first = job({ job_id: 'j1', state: 'running', done: 3, total: 12 })) {
  const api = indexApi(status({ jobs: [first] }));
  const model = new IndexModel({ api });
  model.isOpen = true;
  await advance(10);
  return { api, model, first };
}

const told = (): [string, string][] => Notification.manager.notifications.map(one => [one.type, one.message]);

describe('a notification of an indexing', () => {
  it('stays until it is over, then says what was done', async () => {
    const { api, model, first } = await indexing();
    notifyJob(model, first, 'zürich', trans);
    expect(told()).toEqual([['in-progress', 'Indexing zürich …']]);
    api.now = status({ jobs: [{ ...first, state: 'done', summary: '12 files indexed.' }] });
    await advance(1100);
    expect(told()).toEqual([['success', 'zürich: 12 files indexed.']]);
  });

  it('tells how it ended though it was over before the panel was ever seen', async () => {
    const api = indexApi(status({ jobs: [job({ state: 'done', summary: '1 file indexed.' })] }));
    const model = new IndexModel({ api });
    const begun = await model.index('week/zürich.ipynb');
    notifyJob(model, begun!, 'zürich.ipynb', trans);
    await advance(10);
    expect(told()).toEqual([['success', 'zürich.ipynb: 1 file indexed.']]);
  });

  it('says that the server stopped before it was over', async () => {
    const { api, model, first } = await indexing();
    notifyJob(model, first, 'zürich', trans);
    api.now = status({ jobs: [] });
    await advance(1100);
    expect(told()).toEqual([
      ['warning', 'Indexing zürich was interrupted: the server stopped. Files already indexed are kept.']
    ]);
  });

  it('warns of files that could not be read, and says why nothing was indexed', async () => {
    const { model, first } = await indexing(
      job({ job_id: 'j1', state: 'done', summary: '2 files.', failed: [['λ.ipynb', 'not JSON']] })
    );
    notifyJob(model, first, 'zürich', trans);
    expect(told()).toEqual([['warning', 'zürich: 2 files.']]);
    Notification.dismiss();
    const failed = await indexing(job({ job_id: 'j2', state: 'failed', summary: 'The disk is full.' }));
    notifyJob(failed.model, failed.first, 'zürich', trans);
    expect(told()).toEqual([['error', 'zürich could not be indexed. The disk is full.']]);
  });
});

describe('the item in the status bar', () => {
  it('counts files while something is indexed, and opens the panel', async () => {
    const { model } = await indexing();
    const onClick = jest.fn();
    render(<Indexing progress={model.progress} trans={trans} onClick={onClick} />);
    expect(screen.getByText('Indexing: 3 of 12')).toBeTruthy();
    screen.getByRole('button').click();
    expect(onClick).toHaveBeenCalled();
  });

  it('is empty while nothing is', async () => {
    const { model } = await indexing(job({ state: 'done' }));
    const { container } = render(<Indexing progress={model.progress} trans={trans} onClick={() => undefined} />);
    expect(container.childElementCount).toBe(0);
  });
});
