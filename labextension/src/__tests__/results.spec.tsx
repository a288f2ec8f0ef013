import { act, cleanup, fireEvent, render, screen, within } from '@testing-library/react';

import { Results } from '../results';
import { Signs } from '../results_toolbar';
import { SearchModel } from '../model';
import type { IActions } from '../tokens';
import type { IAnswer, IPlace } from '../types';
import { UseSignal } from '@jupyterlab/ui-components';
import { hit, place, trans } from './samples';
import { found, notebook, pass, Raw, Server } from './server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

type Doing = jest.Mocked<IActions> & { hasNotebook: boolean };

interface IShown {
  server: Server;
  model: SearchModel;
  actions: Doing;
  onIndex: jest.Mock;
  onLeave: jest.Mock;
  list: HTMLElement;
  options: () => HTMLElement[];
}

/** Search, and show what is found. */
async function shown(answer: IAnswer = found(), query = 'price'): Promise<IShown> {
  const server = new Server();
  server.on('POST search', () => answer);
  const model = new SearchModel({ api: server.api });
  const actions: Doing = {
    open: jest.fn(),
    insert: jest.fn(),
    copy: jest.fn(),
    drag: jest.fn(),
    toNotebook: jest.fn(),
    hasNotebook: true
  };
  const [onIndex, onLeave] = [jest.fn(), jest.fn()];
  const props = { model, actions, trans, onIndex, onLeave };
  render(<UseSignal signal={model.stateChanged}>{() => <Results {...props} />}</UseSignal>);
  await act(async () => {
    model.setQuery(query);
    await pass(300);
  });
  const list = screen.queryByRole('listbox') as HTMLElement;
  return { server, model, actions, onIndex, onLeave, list, options: () => screen.queryAllByRole('option') };
}

const press = (list: HTMLElement, key: string, more = {}): void => void fireEvent.keyDown(list, { key, ...more });

describe('a card', () => {
  it('says what it is, where it is and why it is there', async () => {
    const { options } = await shown();
    const [note, cell] = options();
    expect(note.textContent).toMatch(/^1normalise_notes λ/);
    expect(within(note).getByText('keyword match')).toBeTruthy();
    expect(within(note).getByText('match by meaning')).toBeTruthy();
    expect(within(note).getByText('99%')).toBeTruthy();
    expect(within(note).getByText('#pricing')).toBeTruthy();
    expect(within(cell).queryByText('KW')).toBeNull();
    expect(cell.textContent).toContain('Cleaning › Prices');
    expect(cell.textContent).toContain('…/zürich/pricing_model.ipynb');
    expect(cell.querySelector('time')?.dateTime).toBe('2026-10-14T09:00:00+00:00');
    expect(cell.querySelectorAll('.jp-Memory-bar [data-term]').length).toBeGreaterThan(1);
  });

  it('marks the words that match, and shows code in one width', async () => {
    const { options } = await shown();
    const [note, cell] = options();
    expect(note.querySelector('mark')?.textContent).toBe('normalise');
    expect(note.querySelector('code')).toBeNull();
    expect(cell.querySelector('code mark')?.textContent).toBe('price');
  });

  it('shows what looks like HTML as it was written', async () => {
    const evil = hit({
      title: '<img src=x>',
      snippet: '<b onclick="x">price</b>',
      highlights: [[3, 10]],
      tags: ['<i>']
    });
    const { options } = await shown(found({ hits: [evil], places: [place] }));
    expect(options()[0].querySelector('img, b, i:not([data-term])')).toBeNull();
    expect(options()[0].textContent).toContain('<b onclick="x">price</b>');
  });

  it('lets each text run its own way', async () => {
    const { options } = await shown(found({ hits: [hit({ title: 'תמחור 価格', snippet: 'תמחור' })], places: [place] }));
    expect(options()[0].querySelector('bdi')?.textContent).toBe('תמחור 価格');
    expect(options()[0].querySelector('.jp-Memory-snippet')?.getAttribute('dir')).toBe('auto');
  });

  it('says that it is pinned, and that its file changed', async () => {
    const { options, onIndex } = await shown(
      found({ hits: [hit()], places: [{ ...notebook, pinned: true, changed: true, context: 'Prices > λ', index: 4 }] })
    );
    expect(options()[0].querySelector<HTMLElement>('.jp-Memory-path')?.title).toMatch(/^Prices › λ\ncell 5$/);
    expect(within(options()[0]).getByText('pinned')).toBeTruthy();
    expect(options()[0].textContent).toContain('changed');
    expect(screen.getByText(/1 file changed since it was indexed/)).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Index now' }));
    fireEvent.click(options()[0]);
    fireEvent.click(screen.getByRole('button', { name: 'Index again' }));
    expect(onIndex.mock.calls).toEqual([[notebook.path], [notebook.path]]);
  });

  it('has no badges and no bar where nothing was asked', async () => {
    const newest = hit({ badges: '', score: null, strength: null, signals: {}, highlights: [] });
    const { options } = await shown(found({ hits: [newest], places: [place], terms: [] }));
    expect(options()[0].querySelector('.jp-Memory-badge, .jp-Memory-bar, .jp-Memory-strength')).toBeNull();
  });
});

describe('the list', () => {
  it('is one stop of Tab, with the selected hit as its active one', async () => {
    const { list, options, model } = await shown();
    expect(list.tabIndex).toBe(0);
    expect(options().every(one => one.tabIndex === -1)).toBe(true);
    fireEvent.focus(list);
    expect(model.selected).toBe('aa01');
    expect(list.getAttribute('aria-activedescendant')).toBe(options()[0].id);
    expect(options().map(one => one.getAttribute('aria-selected'))).toEqual(['true', 'false']);
  });

  it('is gone through with the arrows, and left with Escape or above its first', async () => {
    const { list, model, onLeave } = await shown();
    fireEvent.focus(list);
    press(list, 'ArrowDown');
    expect(model.selected).toBe('bb02');
    press(list, 'ArrowDown');
    expect(model.selected).toBe('bb02');
    press(list, 'Home');
    expect(model.selected).toBe('aa01');
    press(list, 'End');
    expect(model.selected).toBe('bb02');
    press(list, 'ArrowUp');
    press(list, 'ArrowUp');
    press(list, 'Escape');
    expect(onLeave).toHaveBeenCalledTimes(2);
  });

  it('opens, opens to the side, inserts, copies and forgets with keys', async () => {
    const { list, model, actions } = await shown();
    const [, cell] = model.hits;
    act(() => model.select('bb02'));
    press(list, 'Enter');
    press(list, 'Enter', { shiftKey: true });
    expect(actions.open.mock.calls).toEqual([
      [cell.hit, cell.place, false],
      [cell.hit, cell.place, true]
    ]);
    press(list, 'Enter', { ctrlKey: true });
    expect(actions.insert).toHaveBeenCalledWith(cell.hit);
    press(list, 'c');
    expect(actions.copy).toHaveBeenCalledWith(cell.hit);
    press(list, 'Delete');
    expect(model.forgotten.map(one => one.id)).toEqual(['bb02']);
  });

  it('opens nothing that is in no file', async () => {
    const { list, actions, options } = await shown();
    fireEvent.focus(list);
    press(list, 'Enter');
    fireEvent.click(options()[0], { detail: 2 });
    expect(actions.open).not.toHaveBeenCalled();
    expect(screen.getByRole('button', { name: 'Open' }).getAttribute('aria-disabled')).toBe('true');
    expect(screen.getByRole('button', { name: 'Open' }).title).toBe('It stands in no file.');
  });

  it('selects with a click and opens with two', async () => {
    const { model, actions, options } = await shown();
    fireEvent.click(options()[1], { detail: 1 });
    expect(model.selected).toBe('bb02');
    expect(actions.open).not.toHaveBeenCalled();
    fireEvent.click(options()[1], { detail: 2 });
    expect(actions.open).toHaveBeenCalledTimes(1);
  });

  it('drags once the pressed mouse has moved', async () => {
    const { actions, options, model } = await shown();
    fireEvent.mouseDown(options()[1], { button: 0, clientX: 10, clientY: 10 });
    fireEvent.mouseMove(options()[1], { buttons: 1, clientX: 12, clientY: 12 });
    expect(actions.drag).not.toHaveBeenCalled();
    fireEvent.mouseMove(options()[1], { buttons: 1, clientX: 20, clientY: 12 });
    fireEvent.mouseMove(options()[1], { buttons: 1, clientX: 30, clientY: 12 });
    expect(actions.drag).toHaveBeenCalledTimes(1);
    expect(actions.drag.mock.calls[0][0]).toBe(model.hits[1].hit);
  });

  it('stands under the notebooks, which can be folded', async () => {
    const { list, model, options } = await shown();
    act(() => model.setGrouped(true));
    const groups = within(list).getAllByRole('group');
    expect(groups.map(group => group.getAttribute('aria-label'))).toEqual(['In no file, 1', 'pricing_model.ipynb, 1']);
    act(() => model.select('bb02'));
    press(list, 'ArrowLeft');
    expect(options()).toHaveLength(1);
    fireEvent.focus(list);
    press(list, 'ArrowRight');
    expect([options().length, model.selected]).toEqual([2, 'bb02']);
    press(list, 'ArrowLeft');
    press(list, 'ArrowDown');
    expect(model.selected).toBe('aa01');
    act(() => model.select('bb02'));
    press(list, 'ArrowUp');
    expect(model.selected).toBe('aa01');
    fireEvent.click(screen.getByText('pricing_model.ipynb'));
    expect(options()).toHaveLength(2);
    act(() => model.foldAll(true));
    expect(options()).toHaveLength(0);
    act(() => model.foldAll(false));
    expect(options()).toHaveLength(2);
  });
});

describe('the actions', () => {
  async function selected(at = 1, more: Partial<IPlace> = {}): Promise<IShown & { row: HTMLElement }> {
    const all = await shown(found({ places: [place, { ...notebook, ...more }] }));
    act(() => all.model.select(all.model.hits[at].hit.memory_id));
    return { ...all, row: screen.getByRole('group', { name: /^Actions for/ }) };
  }

  it('stand outside of the list, under the selected hit', async () => {
    const { row, list } = await selected();
    expect(list.contains(row)).toBe(false);
    expect(row.getAttribute('aria-label')).toBe('Actions for Cleaning › Prices');
    expect(row.style.gridRow).toBe('3');
  });

  it('do what they say', async () => {
    const { row, actions, server, model } = await selected();
    const click = (name: string): void => void fireEvent.click(within(row).getByRole('button', { name }));
    ['Open', 'Insert', 'Copy'].forEach(click);
    expect([actions.open, actions.insert, actions.copy].map(one => one.mock.calls.length)).toEqual([1, 1, 1]);
    click('Pin');
    click('Useful');
    await act(() => pass());
    expect(server.bodies('POST pin')).toEqual([{ memory_id: 'bb02', pinned: true }]);
    expect(server.bodies('POST feedback')[0]).toMatchObject({ memory_id: 'bb02', accepted: true });
    expect(within(row).getByRole('button', { name: 'Useful' }).getAttribute('aria-pressed')).toBe('true');
    click('More like this');
    await act(() => pass());
    expect(server.bodies('POST related')).toHaveLength(1);
    click('Forget');
    expect(model.forgotten).toHaveLength(1);
  });

  it('need a notebook to insert into', async () => {
    const { row, actions, list } = await selected();
    const insert = within(row).getByRole('button', { name: 'Insert' });
    actions.hasNotebook = false;
    fireEvent.mouseEnter(list.parentElement as HTMLElement);
    fireEvent.click(insert);
    press(list, 'Enter', { ctrlKey: true });
    expect(actions.insert).not.toHaveBeenCalled();
    expect(insert.getAttribute('aria-disabled')).toBe('true');
    actions.hasNotebook = true;
    fireEvent.mouseEnter(list.parentElement as HTMLElement);
    fireEvent.click(insert);
    expect(actions.insert).toHaveBeenCalledTimes(1);
  });

  it('tag in a line of their own', async () => {
    const { row, server } = await selected();
    fireEvent.click(within(row).getByRole('button', { name: 'Tag' }));
    const line = screen.getByRole('textbox', { name: 'Tags, with commas' });
    fireEvent.change(line, { target: { value: 'Zürich, #λ' } });
    fireEvent.submit(line);
    await act(() => pass());
    expect(server.bodies('POST update')).toEqual([{ memory_id: 'bb02', tags: ['Zürich', 'λ'] }]);
    expect(screen.queryByRole('textbox')).toBeNull();
  });

  it('are small signs over the hit under the mouse, for the mouse alone', async () => {
    const { options, actions } = await selected(0);
    fireEvent.mouseEnter(options()[1]);
    const signs = document.querySelector('.jp-Memory-hover') as HTMLElement;
    expect(signs.getAttribute('aria-hidden')).toBe('true');
    expect(signs.style.gridRow).toBe(options()[1].style.gridRow);
    fireEvent.click(within(signs).getByTitle('Copy the whole text (C)'));
    expect(actions.copy.mock.calls[0][0].memory_id).toBe('bb02');
  });
});

describe('around the list', () => {
  it('tells a screen reader how many results there are', async () => {
    await shown();
    expect(screen.getAllByRole('status')[0].textContent).toBe('2 results');
  });

  it('offers a forgotten memory back', async () => {
    const { model, options } = await shown();
    act(() => model.forget('aa01'));
    expect(options()).toHaveLength(1);
    expect(screen.getByText('Forgotten: normalise_notes λ')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Undo' }));
    expect(options()).toHaveLength(2);
    expect(screen.queryByText(/^Forgotten/)).toBeNull();
  });

  it('shows the notices of the search', async () => {
    await shown(found({ notices: ['Read “last month” as 2026-10-01 … 2026-10-31.'] }));
    expect(screen.getByText(/^Read “last month”/)).toBeTruthy();
  });

  it('says what went wrong, and tries again', async () => {
    const { server, model, options } = await shown();
    server.on('POST search', () => new Raw(503, { message: 'The memory is locked.', reason: 'StoreLocked' }));
    await act(async () => {
      model.setQuery('prices');
      await pass(300);
    });
    expect(screen.getByRole('alert').textContent).toContain('The memory is locked.');
    expect(options()).toHaveLength(2);
    server.on('POST search', () => found());
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Retry' }));
      await pass();
    });
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('keeps the keyboard when what had it is taken away', async () => {
    const { model, list, onLeave, server } = await shown();
    const choose = async (name: string): Promise<void> => {
      const button = screen.getByRole('button', { name });
      act(() => button.focus());
      await act(async () => {
        fireEvent.click(button, { detail: 0 });
        await pass();
      });
    };
    act(() => model.select('aa01'));
    await choose('Forget');
    expect([document.activeElement === list, model.selected]).toEqual([true, 'bb02']);
    await choose('Undo');
    expect([document.activeElement === list, model.selected]).toEqual([true, 'aa01']);
    expect(onLeave).not.toHaveBeenCalled();
    server.on('POST related', () => found({ hits: [hit({ memory_id: 'cc03' })], places: [place] }));
    await choose('More like this');
    expect(onLeave).toHaveBeenCalledTimes(1);
  });

  it('goes on with the keyboard at the first that came', async () => {
    const page = (n: number): IAnswer => {
      const hits = Array.from({ length: n }, (_, i) => hit({ memory_id: `m${i}`, rank: i + 1 }));
      return found({ hits, places: hits.map(() => place) });
    };
    const { server, model, list } = await shown(page(20));
    server.on('POST search', () => page(30));
    const more = screen.getByRole('button', { name: 'Show more' });
    act(() => more.focus());
    await act(async () => {
      fireEvent.click(more, { detail: 0 });
      await pass();
    });
    expect([model.selected, document.activeElement === list]).toEqual(['m20', true]);
  });

  it('has more where there is more', async () => {
    const many = Array.from({ length: 20 }, (_, i) => hit({ memory_id: `m${i}`, rank: i + 1 }));
    const { server } = await shown(found({ hits: many, places: many.map(() => place) }));
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Show more' }));
      await pass();
    });
    expect(server.bodies('POST search').map(one => one.limit)).toEqual([20, 40]);
  });
});

describe('in a browser whose scrolling is a promise', () => {
  const scrolling = ['scroll', 'scrollBy', 'scrollTo', 'scrollIntoView'] as const;
  const before = scrolling.map(name => Element.prototype[name]);
  afterEach(() => scrolling.forEach((name, i) => Object.assign(Element.prototype, { [name]: before[i] })));

  it('comes, scrolls and goes: no effect hands the promise to React, which would call it', async () => {
    const said = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const scrolled = jest.fn(async () => undefined);
    scrolling.forEach(name => Object.assign(Element.prototype, { [name]: scrolled }));
    const { model } = await shown(found(), 'prices');
    act(() => model.select('bb02'));
    act(() => model.select('aa01'));
    await act(async () => {
      model.setQuery('λ');
      await pass(300);
    });
    cleanup();
    expect(scrolled).toHaveBeenCalled();
    expect(said).not.toHaveBeenCalled();
    said.mockRestore();
  });
});

describe('the signs in the title', () => {
  it('hand the question to the notebook, if there is one', async () => {
    const { model, actions } = await shown(found(), ' prices of Zürich ');
    const { rerender } = render(<Signs model={model} actions={actions} trans={trans} />);
    fireEvent.click(screen.getByRole('button', { name: 'Insert the search as %memsearch' }));
    expect(actions.toNotebook).toHaveBeenCalledWith('prices of Zürich');

    actions.hasNotebook = false;
    const sign = screen.getByRole('button', { name: 'Insert the search as %memsearch' });
    fireEvent.mouseOver(sign);
    expect(sign.getAttribute('aria-disabled')).toBe('true');
    fireEvent.click(sign);
    expect(actions.toNotebook).toHaveBeenCalledTimes(1);

    act(() => model.setQuery('  '));
    rerender(<Signs model={model} actions={actions} trans={trans} />);
    expect(screen.queryByRole('button', { name: 'Insert the search as %memsearch' })).toBeNull();
  });
});
