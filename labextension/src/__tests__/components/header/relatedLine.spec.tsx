import { act, fireEvent, render, screen } from '@testing-library/react';

import { Header } from '../../../components/header/header';
import { RelatedToggle } from '../../../components/results/results';
import { UseSignal } from '@jupyterlab/ui-components';
import { RelatedCells } from '../../../models/relatedCells';
import { SearchModel } from '../../../models/searchModel';
import { trans } from '../../helpers/samples';
import { advance, Server } from '../../helpers/server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const CELL = { id: 'a1', path: 'prices.ipynb', text: 'prices = load("prices.csv").groupby("shop").mean()' };

async function shown(): Promise<{ related: RelatedCells; model: SearchModel; onDown: jest.Mock; chosen: boolean[] }> {
  const server = new Server();
  const model = new SearchModel({ api: server.api });
  const related = new RelatedCells({ api: server.api, search: model, isSeen: () => true });
  const chosen: boolean[] = [];
  related.onChosen = on => chosen.push(on);
  const onDown = jest.fn();
  render(
    <>
      <UseSignal signal={related.stateChanged}>{() => <RelatedToggle related={related} trans={trans} />}</UseSignal>
      <UseSignal signal={model.stateChanged}>
        {() => <Header model={model} related={related} trans={trans} onDown={onDown} />}
      </UseSignal>
    </>
  );
  await act(async () => {
    await Promise.all([model.refresh(), advance()]);
  });
  related.follow(CELL);
  return { related, model, onDown, chosen };
}

async function click(name: string | RegExp): Promise<void> {
  await act(async () => {
    fireEvent.click(screen.getByRole('button', { name }));
    await advance(1000);
  });
}

const line = (): HTMLElement | null => screen.queryByRole('button', { name: '2 cells like this one' });

describe('the line about related cells', () => {
  it('is there once it is turned on in the panel, and the setting hears of it', async () => {
    const { chosen } = await shown();
    await act(() => advance(5000));
    expect(line()).toBeNull();
    await click('Related cells while you work');
    expect([line() === null, chosen]).toEqual([false, [true]]);
    expect(screen.getByRole('status').textContent).toBe('2 cells like this one');
    await click('Related cells while you work');
    expect([line(), chosen]).toEqual([null, [true, false]]);
  });

  it('lists the cells, puts the keyboard there, and makes way for what leads back', async () => {
    const { model, onDown } = await shown();
    await click('Related cells while you work');
    await click('2 cells like this one');
    expect([model.showing.what, onDown.mock.calls.length, line()]).toEqual(['cell', 1, null]);
    const back = screen.getByRole('button', { name: 'Like the cell' });
    expect(back.title).toContain('prices = load');
    await click('Like the cell');
    expect([model.showing.what, line() === null]).toEqual(['browse', false]);
  });

  it('is left by Escape in the empty search box', async () => {
    const { model } = await shown();
    await click('Related cells while you work');
    await click('2 cells like this one');
    await act(async () => {
      fireEvent.keyDown(screen.getByRole('searchbox'), { key: 'Escape' });
      await advance();
    });
    expect(model.showing.what).toBe('browse');
  });
});
