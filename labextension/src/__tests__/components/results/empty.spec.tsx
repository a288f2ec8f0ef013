import { act, fireEvent, render, screen } from '@testing-library/react';
import { UseSignal } from '@jupyterlab/ui-components';

import type { IStatus } from '../../../api/types';
import { Empty, emptyReason } from '../../../components/results/empty';
import { SearchModel } from '../../../models/searchModel';
import { job, status, trans, ROOT } from '../../helpers/samples';
import { found, advance, RawResponse, Server } from '../../helpers/server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const nothing = (more: Partial<IStatus> = {}): IStatus =>
  status({ store: { ...status().store, memories: 0 }, ...more });

async function shown(server = new Server()): Promise<{ server: Server; model: SearchModel; onIndex: jest.Mock }> {
  const model = new SearchModel({ api: server.api });
  const onIndex = jest.fn();
  const props = { model, trans, onIndex, onRetry: () => void model.refresh() };
  render(<UseSignal signal={model.stateChanged}>{() => <Empty {...props} />}</UseSignal>);
  await act(async () => {
    await Promise.all([model.refresh(), advance()]);
  });
  return { server, model, onIndex };
}

const title = (): string => screen.getByRole('heading').textContent ?? '';

async function click(name: string): Promise<void> {
  await act(async () => {
    fireEvent.click(screen.getByRole('button', { name }));
    await advance();
  });
}

describe('where there are no results', () => {
  it('nothing is indexed yet: a button indexes the folder', async () => {
    const server = new Server();
    server.on('GET status', () => nothing());
    const { onIndex } = await shown(server);
    expect(title()).toBe('Nothing is remembered yet');
    await click('Index this folder');
    expect(onIndex).toHaveBeenCalledWith('');
  });

  it('something is being indexed: how far it is', async () => {
    const server = new Server();
    server.on('GET status', () => nothing({ jobs: [job({ done: 37, total: 212 })] }));
    const { model } = await shown(server);
    const bar = screen.getByRole('progressbar', { name: 'Indexing' }) as HTMLProgressElement;
    expect([title(), bar.value, bar.max]).toEqual(['Indexing', 37, 212]);
    // None of those that were read is stored yet: else there would be results.
    expect(screen.getByText(/^37 of 212 files read\. They are stored in batches/)).toBeTruthy();
    act(() => model.setStatus(nothing({ jobs: [job({ state: 'waiting', done: 0, total: null })] })));
    expect(screen.getByRole('progressbar').hasAttribute('value')).toBe(false);
  });

  it('the server extension is missing: what to type, and another try', async () => {
    const server = new Server();
    server.on('GET status', () => new RawResponse(404, '<html>'));
    const { model } = await shown(server);
    expect(title()).toBe('The server extension is missing');
    expect(screen.getByText('jupyter server extension enable jupyter_memory')).toBeTruthy();
    expect(server.asked).toHaveLength(1);
    server.on('GET status', () => status());
    await click('Retry');
    expect(emptyReason(model)).toBeNull();
    expect(model.hits).toHaveLength(2);
  });

  it('the server extension is older, or newer: what to type', async () => {
    const server = new Server();
    server.on('GET status', () => status({ api: 0 }));
    const { model } = await shown(server);
    expect(title()).toBe('The server extension is older than this panel');
    expect(screen.getByText('pip install --upgrade jupyter-memory')).toBeTruthy();
    act(() => model.setStatus(status({ api: 2 })));
    expect(title()).toBe('This panel is older than the server extension');
  });

  it('nobody answers, or not to this person', async () => {
    const server = new Server();
    server.on('GET status', () => Promise.reject(new TypeError('Failed to fetch')));
    await shown(server);
    expect(title()).toBe('The Jupyter server does not answer');
    server.on('GET status', () => new RawResponse(403, { message: 'Ada may not read it.', reason: 'Forbidden' }));
    await click('Retry');
    expect(title()).toBe('You are not allowed to read this memory');
    expect(screen.getByText('Ada may not read it.')).toBeTruthy();
    server.on('GET status', () => new RawResponse(403, { message: 'Forbidden', reason: 'Forbidden' }));
    await click('Retry');
    expect(screen.getByText(/its token changed, load this page again/)).toBeTruthy();
  });

  it('nothing matches: each thing that narrows can be taken away', async () => {
    const server = new Server();
    server.on('POST search', () => found({ hits: [], places: [] }));
    const { model } = await shown(server);
    await act(async () => {
      model.answers.setQuery('prices last month kind:cell');
      model.answers.narrow({ filters: { tag: ['λ'] } });
      model.answers.narrow({ since: '2026-11-15' });
      model.answers.setHere({ notebook: 'notebooks/a.ipynb', folder: 'notebooks' });
      model.answers.setScope('notebook');
      await advance(300);
    });
    expect(title()).toBe('No match');
    expect(screen.getByText('Remove the filter from the query')).toBeTruthy();
    expect(screen.getByText('Try other words, or fewer')).toBeTruthy();
    expect(server.bodies('POST search').at(-1)?.filters).toEqual({ tag: ['λ'], path: [`${ROOT}/notebooks/a.ipynb`] });
    await click('Only λ: search all');
    await click(/^Only Nov 15, 2026 –: search all dates/);
    await click('Only in a.ipynb: search everywhere');
    await click('Ignore the time in the query');
    expect(server.bodies('POST search').at(-1)).toMatchObject({ filters: {}, time: false });
    expect(model.narrowing).toEqual({ filters: {}, since: null, asOf: null, aboutTags: [], scope: null, stores: [] });
  });

  it('nothing matches a few words: more of them may', async () => {
    const server = new Server();
    server.on('POST search', () => found({ hits: [], places: [], query_class: 'keyword', time_read: null }));
    const { model } = await shown(server);
    await act(async () => {
      model.answers.setQuery('std::sort');
      model.setStatus(status({ jobs: [job()] }));
      await advance(300);
    });
    expect(screen.getAllByRole('listitem').map(one => one.textContent)).toEqual([
      'Try other words, or more of them',
      'Files are still being indexed: there may be more soon'
    ]);
  });

  it('says nothing while it is asked, and while a memory can be had back', async () => {
    const { model } = await shown();
    expect(emptyReason(model)).toBeNull();
    act(() => {
      model.forget('aa01');
      model.forget('bb02');
    });
    expect(emptyReason(model)).toBeNull();
    await act(() => advance(7_000));
    expect(emptyReason(model)).toBe('no match');
  });
});
