import { act, fireEvent, screen, within } from '@testing-library/react';

import type { IPlace } from '../../../api/types';
import { type IRendered, press, renderResults } from '../../helpers/renderResults';
import { place } from '../../helpers/samples';
import { found, notebook, advance } from '../../helpers/server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('the actions', () => {
  async function selected(at = 1, more: Partial<IPlace> = {}): Promise<IRendered & { row: HTMLElement }> {
    const all = await renderResults(found({ places: [place, { ...notebook, ...more }] }));
    act(() => all.model.selection.select(all.model.hits[at].hit.memory_id));
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
    await act(() => advance());
    expect(server.bodies('POST pin')).toEqual([{ memory_id: 'bb02', pinned: true }]);
    expect(server.bodies('POST feedback')[0]).toMatchObject({ memory_id: 'bb02', accepted: true });
    expect(within(row).getByRole('button', { name: 'Useful' }).getAttribute('aria-pressed')).toBe('true');
    click('More like this');
    await act(() => advance());
    expect(server.bodies('POST related')).toHaveLength(1);
    click('Forget');
    expect(model.undo.waiting).toHaveLength(1);
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
    await act(() => advance());
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
