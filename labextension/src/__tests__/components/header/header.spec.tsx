import { act, fireEvent, render, screen, within } from '@testing-library/react';
import { UseSignal } from '@jupyterlab/ui-components';

import type { IAnswer } from '../../../api/types';
import { Header } from '../../../components/header/header';
import { SearchModel } from '../../../models/searchModel';
import { ROOT, status, trans } from '../../helpers/samples';
import { found, advance, RawResponse, Server } from '../../helpers/server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

interface IShown {
  server: Server;
  model: SearchModel;
  box: HTMLInputElement;
  onDown: jest.Mock;
}

async function shown(more: Partial<IAnswer> = {}): Promise<IShown> {
  const server = new Server();
  server.on('POST search', ({ body }) => found({ query: body.query, ...more }));
  const model = new SearchModel({ api: server.api });
  const onDown = jest.fn();
  const props = { model, trans, onDown };
  render(<UseSignal signal={model.stateChanged}>{() => <Header {...props} />}</UseSignal>);
  await act(async () => {
    await Promise.all([model.refresh(), advance()]);
  });
  return { server, model, onDown, box: screen.getByRole('searchbox') };
}

async function type(box: HTMLInputElement, text: string): Promise<void> {
  await act(async () => {
    fireEvent.change(box, { target: { value: text } });
    await advance(300);
  });
}

async function click(name: string | RegExp): Promise<void> {
  await act(async () => {
    fireEvent.click(screen.getByRole('button', { name }));
    await advance();
  });
}

describe('an input method', () => {
  it('is waited for: what it has not finished is no question', async () => {
    const { server, box } = await shown();
    fireEvent.compositionStart(box);
    await type(box, 'd');
    await type(box, 'denn');
    await type(box, '電力');
    expect([box.value, server.bodies('POST search')]).toEqual(['電力', []]);
    fireEvent.compositionEnd(box);
    await act(() => advance(300));
    expect(server.bodies('POST search').map(one => one.query)).toEqual(['電力']);
  });
});

describe('the keyboard', () => {
  it('goes to the box when the chip that it was on is taken out', async () => {
    const { box, model } = await shown();
    await type(box, 'prices');
    await act(async () => {
      model.answers.narrow({ profile: 'trovella' });
      await advance();
    });
    const chip = screen.getByRole('button', { name: 'profile trovella' });
    chip.focus();
    await act(async () => {
      fireEvent.click(chip);
      await advance();
    });
    expect(chip.isConnected).toBe(false);
    expect(document.activeElement).toBe(box);
  });
});

describe('the search box', () => {
  it('is a form for searching that asks while one types, and with Enter', async () => {
    const { server, box } = await shown();
    await type(box, 'normalise pri');
    await act(async () => {
      fireEvent.submit(screen.getByRole('search'));
      await advance();
    });
    expect(server.bodies('POST search').map(({ query, prefix, log }) => [query, prefix, log])).toEqual([
      ['normalise pri', true, false],
      ['normalise pri', false, true]
    ]);
  });

  it('goes on to the results with the arrow, but not while an input method composes', async () => {
    const { box, onDown } = await shown();
    fireEvent.keyDown(box, { key: 'ArrowDown', isComposing: true });
    expect(onDown).not.toHaveBeenCalled();
    fireEvent.keyDown(box, { key: 'ArrowDown' });
    expect(onDown).toHaveBeenCalledTimes(1);
  });

  it('is emptied with a click, and has the keyboard then', async () => {
    const { box, server } = await shown();
    await type(box, 'price');
    await click('Clear');
    await act(() => advance(300));
    expect(box.value).toBe('');
    expect(document.activeElement).toBe(box);
    expect(server.bodies('POST browse')).toHaveLength(2);
  });

  it('shows the words of the server about a filter that cannot be read', async () => {
    const { box, server } = await shown();
    const message = 'The query cannot be searched: a filter or time in it cannot be read.';
    server.on('POST search', () => new RawResponse(400, { message, reason: 'QueryError' }));
    await type(box, 'price kind:cel');
    expect(box.getAttribute('aria-invalid')).toBe('true');
    expect(document.getElementById(box.getAttribute('aria-describedby') ?? '')?.textContent).toBe(message);
    server.on('POST search', () => found());
    await type(box, 'price kind:cell');
    expect(box.getAttribute('aria-invalid')).toBeNull();
    expect(screen.queryByText(message)).toBeNull();
  });

  it('does not call a memory that is still empty one without an answer', async () => {
    const { box, model } = await shown({ verdict: 'none', hits: [] });
    await type(box, 'price');
    expect(screen.getByText('not found')).toBeTruthy();
    act(() => model.setStatus(status({ store: { ...status().store, memories: 0 } })));
    expect(screen.queryByText('not found')).toBeNull();
  });
});

describe('what was chosen under Advanced', () => {
  it('is a chip that a click takes out: the day as of which is searched, each tag in favour', async () => {
    const { model } = await shown();
    act(() => model.restore({ asOf: '2025-03-01', aboutTags: ['λ', 'ridge'] }));
    await click('as of Mar 1, 2025');
    await click('in favour: λ');
    expect([model.question.asOf, model.question.aboutTags]).toEqual([null, ['ridge']]);
  });

  it('is a chip that a click takes out: the profile', async () => {
    const { model } = await shown();
    act(() => model.restore({ profile: 'my λ' }));
    await click('profile my λ');
    expect(model.question.profile).toBe('');
    expect(screen.queryByRole('button', { name: /^profile/ })).toBeNull();
  });
});

describe('the chips', () => {
  it('count what there is of each kind, and take any of the chosen ones', async () => {
    const { box, server } = await shown();
    await type(box, 'price');
    await click('Kind');
    for (const name of ['Cells 9', 'Notes 2']) {
      await act(async () => {
        fireEvent.click(screen.getByRole('checkbox', { name }));
        await advance();
      });
    }
    expect(server.bodies('POST search').at(-1)?.filters).toEqual({ kind: ['cell', 'note'] });
    expect(screen.getByRole('button', { name: 'Kind 2' }).className).toContain('jp-mod-on');
  });

  it('choose where to search, also with the arrows, and follow the document in front', async () => {
    const { box, server, model } = await shown();
    const radio = (name: string): HTMLElement => screen.getByRole('radio', { name });
    const paths = (): unknown => server.bodies('POST search').at(-1)?.filters.path;
    await type(box, 'price');
    await act(async () => model.answers.setHere({ notebook: null, folder: 'zürich' }));
    expect(radio('This notebook').getAttribute('aria-disabled')).toBe('true');
    radio('All').focus();
    await act(async () => {
      fireEvent.keyDown(radio('All'), { key: 'ArrowLeft' });
      await advance();
    });
    expect([paths(), document.activeElement]).toEqual([[`${ROOT}/zürich`], radio('Folder')]);
    expect(
      [radio('Folder'), radio('All')].map(one => [one.ariaChecked ?? one.getAttribute('aria-checked'), one.tabIndex])
    ).toEqual([
      ['true', 0],
      ['false', -1]
    ]);
    await act(async () => {
      model.answers.setHere({ notebook: 'zürich/a.ipynb', folder: 'zürich' });
      fireEvent.click(radio('This notebook'));
      await advance();
      model.answers.setHere({ notebook: 'b/c.py', folder: 'b' });
      await advance();
    });
    expect([paths(), radio('This file').title]).toEqual([[`${ROOT}/b/c.py`], `Only in ${ROOT}/b/c.py`]);
    act(() => model.answers.setHere({ notebook: null, folder: null }));
    await act(async () => {
      fireEvent.keyDown(radio('This file'), { key: 'ArrowRight' });
      await advance();
    });
    expect([paths(), model.question.scope]).toEqual([undefined, null]);
  });

  it('have the values of a facet behind them', async () => {
    const { box, server } = await shown();
    await type(box, 'price');
    const chip = screen.getByRole('button', { name: 'Language' });
    expect(chip.getAttribute('aria-expanded')).toBe('false');
    await click('Language');
    expect(chip.getAttribute('aria-expanded')).toBe('true');
    const python = screen.getByRole('checkbox', { name: 'python 8' });
    await act(async () => {
      fireEvent.click(python);
      await advance();
    });
    expect(server.bodies('POST search').at(-1)?.filters).toEqual({ lang: ['python'] });
    expect(within(chip).getByText('1')).toBeTruthy();
    fireEvent.keyDown(python, { key: 'Escape' });
    expect(screen.queryByRole('checkbox')).toBeNull();
  });

  it('hide a facet that has nothing to choose', async () => {
    const { box } = await shown();
    await type(box, 'price');
    expect(screen.queryByRole('button', { name: 'Tier' })).toBeNull();
    expect(screen.queryByRole('button', { name: 'Tag' })).toBeNull();
  });

  it('take the time out that was read in the words, and in again', async () => {
    const { box, server } = await shown();
    await type(box, 'prices last month');
    await click(/2026/);
    expect(server.bodies('POST search').map(one => one.time)).toEqual([true, false]);
    await click('time ignored');
    expect(server.bodies('POST search').map(one => one.time)).toEqual([true, false, true]);
  });

  it('show the filters that were read in the words, and take them out', async () => {
    const { box, server } = await shown({
      time_read: null,
      facets: { kind: { file: 3 }, lang: {}, tier: {}, tag: {} }
    });
    await type(box, 'kind:file prices');
    await click('kind:file');
    await act(() => advance(300));
    expect(box.value).toBe('prices');
    expect(server.bodies('POST search').map(one => one.query)).toEqual(['kind:file prices', 'prices']);
    expect(screen.queryByRole('button', { name: 'kind:file' })).toBeNull();
  });

  it('narrow to days, and widen again', async () => {
    jest.setSystemTime(new Date(2026, 10, 22, 9));
    const { box, server, model } = await shown({ time_read: null });
    await type(box, 'price');
    await click('Date');
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Last 7 days' }));
      await advance();
    });
    expect(server.bodies('POST search').at(-1)?.since).toBe('2026-11-15');
    expect(screen.queryByRole('button', { name: 'Today' })).toBeNull();
    const chip = screen.getByRole('button', { name: /2026/ });
    expect([chip.className.includes('jp-mod-on'), document.activeElement]).toEqual([true, chip]);
    await click(/2026/);
    await click('Any time');
    expect(model.question.since).toBeNull();
  });

  it('close their menu by Escape, by a press elsewhere and by another question', async () => {
    const { box } = await shown({ time_read: null });
    const isOpen = (): boolean => screen.queryByRole('button', { name: 'Today' }) !== null;
    await type(box, 'price');
    await click('More filters');
    await click('Date');
    expect(isOpen()).toBe(true);
    fireEvent.keyDown(screen.getByRole('button', { name: 'Today' }), { key: 'Escape' });
    expect(isOpen()).toBe(false);
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Date' }));

    await click('Date');
    fireEvent.pointerDown(screen.getByRole('button', { name: 'Today' }));
    expect(isOpen()).toBe(true);
    act(() => box.focus());
    fireEvent.pointerDown(box);
    expect(isOpen()).toBe(false);
    expect(document.activeElement).toBe(box);

    await click('Date');
    await type(box, 'prices');
    expect(isOpen()).toBe(false);
  });

  it('show a notebook that is searched in alone', async () => {
    const { box, model } = await shown();
    await type(box, 'price');
    await act(async () => {
      model.answers.narrow({ filters: { path: ['notebooks/zürich/pricing_model.ipynb'] } });
      await advance();
    });
    await click('pricing_model.ipynb');
    expect(model.question.filters).toEqual({});
  });
});

describe('the line on the answer', () => {
  it.each([
    ['strong', 'found'],
    ['weak', 'perhaps'],
    ['none', 'not found']
  ] as const)('says of a %s answer that it is %s, and how many results there are', async (verdict, word) => {
    const { box } = await shown({ verdict, timings: { total: 9.04 } });
    await type(box, 'price');
    const line = screen.getByText(word).parentElement!;
    expect(line.firstElementChild!.getAttribute('data-verdict')).toBe(verdict);
    expect(line.textContent).toBe(`${word}2 of 61`);
  });

  it('says what the newest memories are', async () => {
    await shown();
    expect(screen.getByText('newest first')).toBeTruthy();
    expect(screen.queryByText('found')).toBeNull();
  });

  it('leads back from what is like a memory', async () => {
    const { box, model, server } = await shown();
    await type(box, 'price');
    await act(async () => {
      await Promise.all([model.related('aa01'), advance()]);
    });
    await click(/Like “normalise_notes λ”/);
    expect(model.showing).toEqual({ what: 'search' });
    expect(server.bodies('POST search')).toHaveLength(2);
  });
});

describe('the stores of the list', () => {
  it('are asked as they are chosen, the own one alone without a word of it', async () => {
    const { server, model, box } = await shown();
    expect(screen.queryByRole('button', { name: /Stores/ })).toBeNull();
    server.on('GET status', () => status({ stores: ['own', 'papers', 'team'] }));
    await act(() => model.refresh());
    await type(box, 'prices');
    expect(server.bodies('POST search').at(-1).stores).toBeUndefined();
    await click(/Stores/);
    const menu = screen.getByRole('group', { name: 'Stores' });
    expect(within(menu).getAllByRole('checkbox', { checked: true })).toHaveLength(1);
    for (const [name, asked] of [
      ['papers', ['own', 'papers']],
      ['own', ['papers']],
      ['papers', undefined]
    ] as const) {
      await act(async () => {
        fireEvent.click(within(menu).getByRole('checkbox', { name }));
        await advance();
      });
      expect(server.bodies('POST search').at(-1).stores).toEqual(asked);
    }
  });

  it('are left out once they are off the list, and can be asked where the own one is empty', async () => {
    const { server, model } = await shown();
    const empty = { ...status().store, memories: 0 };
    server.on('GET status', () => status({ store: empty, stores: ['own', 'papers'] }));
    await act(async () => {
      model.answers.narrow({ stores: ['papers', 'team'] });
      await model.refresh();
    });
    expect(model.question.stores).toEqual(['papers']);
    expect(server.bodies('POST browse').at(-1).stores).toEqual(['papers']);
  });
});
