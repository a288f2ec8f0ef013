import { act, fireEvent, render, screen, within } from '@testing-library/react';
import { UseSignal } from '@jupyterlab/ui-components';

import type { IHistory } from '../../../api/types';
import { Recording } from '../../../components/header/header';
import { SearchModel } from '../../../models/searchModel';
import { status, trans } from '../../helpers/samples';
import { advance, Server } from '../../helpers/server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const ON: IHistory = { kernels: 2, runs: 1234, texts: 300, since: '2026-10-03T09:00:00+00:00' };

async function shown(history: IHistory) {
  const server = new Server();
  const model = new SearchModel({ api: server.api });
  render(<UseSignal signal={model.stateChanged}>{() => <Recording model={model} trans={trans} />}</UseSignal>);
  await act(async () => {
    model.setStatus(status({ history }));
    await advance();
  });
  return { server, model };
}

const sign = (): HTMLElement | null => screen.queryByRole('button', { name: 'History is on' });

describe('the sign of the history', () => {
  it('is there while a kernel records, and not for runs that were recorded once', async () => {
    const { model } = await shown({ ...ON, kernels: 0 });
    expect(sign()).toBeNull();
    act(() => model.setStatus(status({ history: ON })));
    expect(sign()!.title).toMatch(/^2 kernels remember what they run\. 1,234 runs since .*3.*\.\n/);
    expect(sign()!.title).toContain('%memory history off');
    act(() => model.setStatus(status({ history: { kernels: 1, runs: 0, texts: 0, since: null } })));
    expect(sign()!.title).toMatch(/^A kernel remembers what it runs\. Nothing is in the store yet\.\n/);
  });

  it('unfolds into what is kept and how to end it, and folds with Escape', async () => {
    await shown(ON);
    fireEvent.click(sign()!);
    const note = screen.getByRole('group', { name: 'History' });
    expect(sign()!.getAttribute('aria-controls')).toBe(note.id);
    expect(note.textContent).toContain('Outputs are not kept.');
    expect(within(note).getByText('%memory history off').tagName).toBe('CODE');
    fireEvent.keyDown(note, { key: 'Escape' });
    expect(screen.queryByRole('group', { name: 'History' })).toBeNull();
    expect(document.activeElement).toBe(sign());
  });

  it('leads to what was run', async () => {
    const { server, model } = await shown(ON);
    fireEvent.click(sign()!);
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Show what you ran' }));
      await advance(300);
    });
    expect([model.question.query, model.question.filters]).toEqual(['', { kind: ['history'] }]);
    expect(server.bodies('POST browse').at(-1)).toMatchObject({ filters: { kind: ['history'] } });
    expect(screen.queryByRole('group', { name: 'History' })).toBeNull();
  });
});
