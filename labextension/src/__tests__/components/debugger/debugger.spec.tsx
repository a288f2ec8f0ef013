import { UseSignal } from '@jupyterlab/ui-components';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { act, cleanup, fireEvent, render, screen, within } from '@testing-library/react';

import { ApiError, type MemoryApi } from '../../../api/memoryApi';
import type { IExplanation, IRecent } from '../../../api/types';
import { Debugger, debuggerSection } from '../../../components/debugger/debugger';
import { SectionWidget } from '../../../components/panel';
import { DebuggerModel } from '../../../models/debuggerModel';
import { SearchModel } from '../../../models/searchModel';
import { answer, hit, place, profiles, recent, ROOT, settle, status, trans, picks } from '../../helpers/samples';

const missed: IExplanation = {
  memory_id: 'cc03',
  hit: null,
  reasons: [
    'Neither the search by words nor the one by meaning found it, so it was not ranked.',
    'By meaning: its cosine is 0.31, but 40 memories are closer.'
  ],
  details: [],
  without: {}
};

type Asked = 'search' | 'browse' | 'explain' | 'profiles' | 'recent' | 'forgetRecent' | 'status';

function server(): jest.Mocked<Pick<MemoryApi, Asked>> {
  return {
    search: jest.fn(async ({ query, lists, profile }) => {
      const { lists: all, ...rest } = answer({ query, profile: profile ?? 'auto' });
      return lists ? { ...rest, lists: all } : rest;
    }),
    browse: jest.fn(async () => answer({ query: '', lists: undefined })),
    explain: jest.fn(async ({ memory_id }) => ({ ...missed, memory_id })),
    profiles: jest.fn(async () => profiles),
    recent: jest.fn(async () => recent),
    forgetRecent: jest.fn(async () => 2),
    status: jest.fn(async () => status())
  };
}

async function searched(query = 'how did we normalise the prices last month'): Promise<{
  api: ReturnType<typeof server>;
  search: SearchModel;
  model: DebuggerModel;
}> {
  const api = server();
  const search = new SearchModel({ api: api as unknown as MemoryApi });
  search.answers.configure({ delay: 0 });
  const model = new DebuggerModel(search, api);
  model.isOpen = true;
  await act(async () => {
    search.answers.setQuery(query);
    await search.answers.search({ now: true });
    await settle();
  });
  return { api, search, model };
}

/** The debugger as it is shown, and again after each change. */
function shown(model: DebuggerModel, pickFile: () => Promise<string | null> = picks.pickFile): void {
  const props = { model, trans, pickFile };
  render(<UseSignal signal={model.stateChanged}>{() => <Debugger {...props} />}</UseSignal>);
}

function fact(name: string): string | null | undefined {
  return screen.getByText(name, { selector: 'dt' }).nextElementSibling?.textContent;
}

describe('the debugger', () => {
  it('says how the question was understood and what the engines found', async () => {
    shown((await searched()).model);
    expect(fact('Class')).toBe('semantic');
    expect(fact('Verdict')).toBe('found · 99%');
    expect(fact('Time')).toMatch(/^“last month” read as Oct 1\s–\s31, 2026$/);
    expect(fact('Found')).toBe('KW 38SEM 40fused 1,061');
  });

  it('says where the time went', async () => {
    shown((await searched()).model);
    expect(fact('embed')).toBe('4.1 ms');
    expect(fact('total')).toBe('19 ms');
  });

  it('asks for lists only while it can be seen', async () => {
    const api = server();
    const search = new SearchModel({ api: api as unknown as MemoryApi });
    search.answers.configure({ delay: 0 });
    const model = new DebuggerModel(search, api);
    search.answers.setQuery('prices λ');
    await search.answers.search({ now: true });
    expect(api.search).toHaveBeenLastCalledWith(expect.objectContaining({ lists: false }), expect.anything());
    expect(api.recent).not.toHaveBeenCalled();
    model.isOpen = true;
    await settle();
    expect(api.search).toHaveBeenLastCalledWith(expect.objectContaining({ lists: true }), expect.anything());
    expect(search.answer?.lists?.keyword).toHaveLength(3);
    model.isOpen = false;
    await search.answers.search({ now: true });
    expect(api.search).toHaveBeenLastCalledWith(expect.objectContaining({ lists: false }), expect.anything());
  });

  it('explains the selected hit with the ranks of the lists, without asking again', async () => {
    const { api, search, model } = await searched();
    shown(model);
    act(() => search.selection.select('bb02'));
    const table = screen.getByRole('table', { name: 'Why rank 2: Log-scale the prices' });
    expect(within(table).getByRole('row', { name: /^its meaning/ }).textContent).toContain('2 places worse');
    expect(api.explain).not.toHaveBeenCalled();
  });

  it('selects a hit in the results when it is clicked in a list', async () => {
    const { search, model } = await searched();
    shown(model);
    fireEvent.click(within(screen.getByRole('table', { name: /^Keyword/ })).getByText('Log-scale the prices'));
    expect(search.selected).toBe('bb02');
    expect(screen.getByRole('table', { name: 'Why rank 2: Log-scale the prices' })).toBeTruthy();
  });

  it('says why a memory of the lists is not in the answer', async () => {
    const { api, model } = await searched();
    shown(model);
    fireEvent.click(within(screen.getByRole('table', { name: /^Fused/ })).getByText('Price outliers'));
    await act(settle);
    expect(api.explain).toHaveBeenCalledWith(
      expect.objectContaining({ memory_id: 'cc03', query: 'how did we normalise the prices last month' }),
      expect.anything()
    );
    expect(screen.getByRole('heading', { name: 'Why not: Price outliers' })).toBeTruthy();
    expect(screen.getByText(/its cosine is 0.31/)).toBeTruthy();
  });

  it('shows the points of a memory that was ranked below the answer', async () => {
    const { api, model } = await searched();
    const far = hit({ rank: 57, memory_id: 'cc03', title: 'Price outliers' });
    api.explain.mockResolvedValueOnce({ ...missed, hit: far, reasons: ['Rank 57.'], without: { tier: 60 } });
    shown(model);
    act(() => model.choose('cc03'));
    await act(settle);
    const table = screen.getByRole('table', { name: 'Why rank 57: Price outliers' });
    expect(within(table).getByRole('row', { name: /^tier/ }).textContent).toContain('3 places worse');
  });

  it('explains a cell that is missing once its file and the cell are picked', async () => {
    const { api, search, model } = await searched();
    await act(() => search.recount());
    await act(() => search.refresh());
    const rows = [hit({ memory_id: 'dd04' }), hit({ memory_id: 'ee05', title: 'Cleaning λ' })];
    const places = [7, 2].map(index => ({ ...place, index, begins: `cell_${index}()` }));
    api.browse.mockResolvedValueOnce(answer({ hits: rows, places }));
    shown(model, async () => 'notebooks/zürich/a.ipynb');
    fireEvent.click(screen.getByRole('button', { name: 'Pick its file…' }));
    await act(settle);
    expect(api.browse).toHaveBeenLastCalledWith({
      limit: 500,
      filters: { path: [`${ROOT}/notebooks/zürich/a.ipynb`] }
    });
    const cells = screen.getByRole('combobox', { name: 'Cell of notebooks/zürich/a.ipynb' });
    expect([...cells.querySelectorAll('option')].map(one => one.textContent)).toEqual([
      'a.ipynb',
      'cell 3 · cell_2()',
      'cell 8 · cell_7()'
    ]);
    fireEvent.change(cells, { target: { value: 'ee05' } });
    await act(settle);
    expect(api.explain).toHaveBeenCalledWith(expect.objectContaining({ memory_id: 'ee05' }), expect.anything());
    expect(screen.getByRole('heading', { name: 'Why not: Cleaning λ' })).toBeTruthy();
  });

  it('says where there is nothing to pick', async () => {
    const { api, model } = await searched();
    api.browse.mockResolvedValueOnce(answer({ hits: [], places: [] }));
    shown(model);
    fireEvent.click(screen.getByRole('button', { name: 'Pick a note…' }));
    await act(settle);
    expect(api.browse).toHaveBeenLastCalledWith({ limit: 500, filters: { kind: ['note'] } });
    expect(screen.getByText('There are no notes.')).toBeTruthy();
  });

  it('says why there are no lists of several stores, and picks from all of them', async () => {
    const { api, search, model } = await searched();
    shown(model);
    const told = /^These are sums over the stores/;
    expect(screen.queryByText(told)).toBeNull();
    api.search.mockResolvedValue(answer({ lists: undefined }));
    await act(async () => {
      search.answers.narrow({ stores: ['own', 'team'] });
      await settle();
    });
    expect(screen.getByText(told)).toBeTruthy();
    expect(screen.queryByRole('table', { name: /^Keyword/ })).toBeNull();
    api.browse.mockResolvedValueOnce(
      answer({ hits: [hit({ memory_id: 'team:ee05', store: 'team', title: 'λ' })], places: [place] })
    );
    fireEvent.click(screen.getByRole('button', { name: 'Pick a note…' }));
    await act(settle);
    expect(api.browse).toHaveBeenLastCalledWith({ limit: 500, filters: { kind: ['note'] }, stores: ['own', 'team'] });
    expect(screen.getByRole('option', { name: /^team · / })).toBeTruthy();
  });

  it('keeps what few people need folded, until it was opened in this session', async () => {
    const { model } = await searched();
    shown(model);
    const folded = (): HTMLDetailsElement => screen.getByText('Advanced').closest('details')!;
    expect([folded().open, within(folded()).getByRole('combobox', { name: 'Profile' })]).toEqual([
      false,
      expect.anything()
    ]);
    folded().open = true;
    fireEvent(folded(), new Event('toggle'));
    cleanup();
    shown(model);
    expect(folded().open).toBe(true);
    sessionStorage.clear();
  });

  it('says so when there is no memory of that id', async () => {
    const { api, model } = await searched();
    api.explain.mockRejectedValueOnce(new ApiError(404, 'NotFound', 'There is no memory dd04.'));
    shown(model);
    act(() => model.choose('dd04'));
    await act(settle);
    expect(screen.getByRole('alert').textContent).toBe('There is no memory dd04.');
    await act(() => model.loadRecent());
    expect(screen.getByRole('alert')).toBeTruthy();
    await act(async () => {
      await model.search.answers.search({ now: true });
      await settle();
    });
    expect(screen.queryByRole('alert')).toBeNull();
    expect(api.explain).toHaveBeenCalledTimes(1);
  });

  it('asks again why a memory is missing when the question changes', async () => {
    const { api, search, model } = await searched();
    model.choose('cc03');
    await settle();
    search.answers.setQuery('outliers');
    await search.answers.search({ now: true });
    await settle();
    expect(api.explain).toHaveBeenLastCalledWith(
      expect.objectContaining({ memory_id: 'cc03', query: 'outliers' }),
      expect.anything()
    );
  });

  it('lets the results have the last word on what is chosen', async () => {
    const { search, model } = await searched();
    model.choose('cc03');
    search.selection.select('aa01');
    expect(model.chosen).toBe('aa01');
  });

  it('tells a hit in words when asked', async () => {
    const { api, search, model } = await searched();
    shown(model);
    act(() => search.selection.select('aa01'));
    const details = screen.getByText('In words').closest('details')!;
    details.open = true;
    fireEvent(details, new Event('toggle'));
    await act(settle);
    expect(api.explain).toHaveBeenCalledTimes(1);
    expect(within(details).getAllByRole('listitem')).toHaveLength(2);
  });

  it('switches the profile and shows its formula', async () => {
    const { search, model } = await searched();
    shown(model);
    const select = screen.getByRole('combobox', { name: 'Profile' }) as HTMLSelectElement;
    expect(select.value).toBe('auto');
    expect(screen.getByLabelText('Formula of the score').textContent).toBe(profiles[0].formula);
    await act(async () => {
      fireEvent.change(select, { target: { value: 'trovella' } });
      await settle();
    });
    expect(search.question.profile).toBe('trovella');
    expect(search.answer?.profile).toBe('trovella');
    expect(screen.getByLabelText('Formula of the score').textContent).toBe(profiles[1].formula);
    await act(async () => {
      fireEvent.change(select, { target: { value: 'auto' } });
      await settle();
    });
    expect(search.question.profile).toBe('');
  });

  it('searches what was stored on a day, and what is stored now', async () => {
    const { api, search, model } = await searched();
    shown(model);
    const day = screen.getByLabelText('Only what was stored by');
    for (const value of ['2026-03-01', '']) {
      await act(async () => {
        fireEvent.change(day, { target: { value } });
        await settle();
      });
      expect([search.question.asOf ?? '', api.search.mock.lastCall![0].as_of ?? '']).toEqual([value, value]);
    }
  });

  it('lets tags count in favour where the profile reads them, and says which one does', async () => {
    const { api, search, model } = await searched();
    shown(model);
    const field = screen.getByLabelText(/^Tags in favour/) as HTMLInputElement;
    expect([field.disabled, field.parentElement!.textContent]).toEqual([
      true,
      'Tags in favourcount in the profile vault'
    ]);
    await act(async () => {
      search.answers.narrow({ profile: 'vault' });
      await settle();
    });
    expect([field.disabled, field.parentElement!.textContent]).toEqual([false, 'Tags in favour']);
    field.focus();
    for (const [line, tags, text] of [
      ['#λ,Zürich, λ', ['λ', 'Zürich'], 'λ, Zürich'],
      [' ', undefined, '']
    ] as const) {
      await act(async () => {
        fireEvent.change(field, { target: { value: line } });
        fireEvent.keyDown(field, { key: 'Enter' });
        await settle();
      });
      expect([api.search.mock.lastCall![0].about_tags, field.value]).toEqual([tags, text]);
    }
    expect(document.activeElement).toBe(field);
  });

  it('lists recent searches, also those of %memsearch, and runs one as it was run', async () => {
    const { api, search, model } = await searched();
    shown(model);
    const list = screen.getByRole('region', { name: 'Recent searches' });
    const button = within(list).getByRole('button', { name: /Zürich λ prices/ });
    expect(button.textContent).toContain('%memsearch · trovella · 1 hit');
    await act(async () => {
      fireEvent.click(button);
      await settle();
    });
    expect(search.question.query).toBe('Zürich λ prices');
    expect(api.search).toHaveBeenCalledTimes(2);
    expect(api.search).toHaveBeenLastCalledWith(
      expect.objectContaining({ query: 'Zürich λ prices', profile: 'trovella', prefix: false }),
      expect.anything()
    );
  });

  it('names the program that asked, as plain text and cut, and lists only its searches if that is chosen', async () => {
    const { api, search, model } = await searched();
    const name = `<b>Claude</b> \u202eCode\n${'x'.repeat(200)}`;
    const call = {
      ...recent[0],
      query_id: 'q2',
      query: 'net prices',
      client: name,
      tool: 'memory_search',
      profile: ''
    };
    api.recent.mockResolvedValueOnce([call, ...recent]);
    await act(() => model.loadRecent());
    shown(model);
    const list = screen.getByRole('region', { name: 'Recent searches' });
    const button = within(list).getByRole('button', { name: /net prices/ });
    expect(button.textContent).toMatch(/by <b>Claude<\/b> \[U\+202E\]Code x+… · memory_search · 12 hits/);
    expect(list.querySelector('b')).toBeNull();
    const queries = (): (string | null)[] => [...list.querySelectorAll('.jp-Memory-query')].map(one => one.textContent);
    const who = within(list).getByRole('combobox', { name: 'Whose searches' });
    fireEvent.change(who, { target: { value: '2' } });
    expect(queries()).toEqual(['net prices']);
    fireEvent.change(who, { target: { value: '1' } });
    expect(queries()).toEqual(recent.map(one => one.query));
    fireEvent.change(who, { target: { value: '0' } });
    expect(queries().length).toBe(3);
    await act(async () => {
      fireEvent.click(within(list).getByRole('button', { name: /net prices/ }));
      await settle();
    });
    expect(search.question.query).toBe('net prices');
  });

  it('clears the recent searches', async () => {
    const { api, model } = await searched();
    shown(model);
    fireEvent.click(screen.getByRole('button', { name: 'Clear' }));
    await act(settle);
    expect(api.forgetRecent).toHaveBeenCalled();
    expect(screen.getByText(/None yet/)).toBeTruthy();
  });

  it('shows no searches that were read before they were cleared', async () => {
    const { api, model } = await searched();
    let answer: (old: IRecent[]) => void = () => undefined;
    api.recent.mockImplementationOnce(() => new Promise(resolve => (answer = resolve)));
    const reading = model.loadRecent();
    await model.clearRecent();
    answer(recent);
    await reading;
    expect(model.recent).toEqual([]);
  });

  it('explains the latest choice, whatever the server says last', async () => {
    const { api, model } = await searched();
    let refuse: (error: ApiError) => void = () => undefined;
    api.explain.mockImplementationOnce(() => new Promise((_, reject) => (refuse = reject)));
    model.choose('dd04');
    expect(model.isExplaining).toBe(true);
    model.choose('cc03');
    await settle();
    refuse(new ApiError(404, 'NotFound', 'There is no memory dd04.'));
    await settle();
    expect([model.explanation?.memory_id, model.problem, model.isExplaining]).toEqual(['cc03', null, false]);
  });

  it('does not complain that nothing is remembered yet', async () => {
    const { api, model } = await searched();
    api.recent.mockRejectedValueOnce(new ApiError(409, 'NoStore', 'There is no store yet.'));
    await model.loadRecent();
    expect(model.problem).toBeNull();
  });

  it('says when searches are not noted, and how to note them', async () => {
    const { search, model } = await searched();
    shown(model);
    act(() => search.setStatus(status({ log_searches: false })));
    expect(screen.getByText('c.JupyterMemory.log_searches = True')).toBeTruthy();
  });

  it('has nothing to explain where nothing was asked', async () => {
    const { model } = await searched('');
    shown(model);
    expect(screen.getByText(/^Search for something/)).toBeTruthy();
  });
});

describe('the widget of the debugger', () => {
  it('is drawn while it is shown, and not for a key that is typed', async () => {
    const { search, model } = await searched();
    const changed = jest.fn();
    model.stateChanged.connect(changed);
    search.answers.setQuery('Zürich λ');
    expect(changed).not.toHaveBeenCalled();
    search.selection.select('bb02');
    expect(changed).toHaveBeenCalledTimes(1);

    const widget = new SectionWidget(debuggerSection({ model: search, api: server(), trans, ...picks }));
    widget.hide();
    act(() => Widget.attach(widget, document.body));
    act(() => search.selection.select('aa01'));
    act(() => MessageLoop.flush());
    expect(widget.node.textContent).toBe('');
    widget.show();
    act(() => MessageLoop.flush());
    expect(widget.node.textContent).toContain('Why rank 1');
    act(() => widget.dispose());
  });

  it('is open while it is shown', () => {
    const api = server();
    const search = new SearchModel({ api: api as unknown as MemoryApi });
    search.answers.configure({ delay: 0 });
    const widget = new SectionWidget(debuggerSection({ model: search, api, trans, ...picks }));
    widget.hide();
    act(() => Widget.attach(widget, document.body));
    expect(search.answers.lists).toBe(false);
    widget.show();
    expect(search.answers.lists).toBe(true);
    widget.hide();
    expect(search.answers.lists).toBe(false);
    widget.show();
    act(() => MessageLoop.flush());
    act(() => widget.dispose());
    expect(search.answers.lists).toBe(false);
  });
});
