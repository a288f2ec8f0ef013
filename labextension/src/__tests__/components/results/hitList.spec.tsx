import { act, fireEvent, screen, within } from '@testing-library/react';

import { press, renderResults } from '../../helpers/renderResults';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('the list', () => {
  it('is one stop of Tab, with the selected hit as its active one', async () => {
    const { list, options, model } = await renderResults();
    expect(list.tabIndex).toBe(0);
    expect(options().every(one => one.tabIndex === -1)).toBe(true);
    fireEvent.focus(list);
    expect(model.selected).toBe('aa01');
    expect(list.getAttribute('aria-activedescendant')).toBe(options()[0].id);
    expect(options().map(one => one.getAttribute('aria-selected'))).toEqual(['true', 'false']);
  });

  it('is gone through with the arrows, and left with Escape or above its first', async () => {
    const { list, model, onLeave } = await renderResults();
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
    const { list, model, actions } = await renderResults();
    const [, cell] = model.hits;
    act(() => model.selection.select('bb02'));
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
    expect(model.undo.waiting.map(one => one.id)).toEqual(['bb02']);
  });

  it('opens nothing that is in no file', async () => {
    const { list, actions, options } = await renderResults();
    fireEvent.focus(list);
    press(list, 'Enter');
    fireEvent.click(options()[0], { detail: 2 });
    expect(actions.open).not.toHaveBeenCalled();
    expect(screen.getByRole('button', { name: 'Open' }).getAttribute('aria-disabled')).toBe('true');
    expect(screen.getByRole('button', { name: 'Open' }).title).toBe('It is in no file.');
  });

  it('selects with a click and opens with two', async () => {
    const { model, actions, options } = await renderResults();
    fireEvent.click(options()[1], { detail: 1 });
    expect(model.selected).toBe('bb02');
    expect(actions.open).not.toHaveBeenCalled();
    fireEvent.click(options()[1], { detail: 2 });
    expect(actions.open).toHaveBeenCalledTimes(1);
  });

  it('drags once the pressed mouse has moved', async () => {
    const { actions, options, model } = await renderResults();
    fireEvent.mouseDown(options()[1], { button: 0, clientX: 10, clientY: 10 });
    fireEvent.mouseMove(options()[1], { buttons: 1, clientX: 12, clientY: 12 });
    expect(actions.drag).not.toHaveBeenCalled();
    fireEvent.mouseMove(options()[1], { buttons: 1, clientX: 20, clientY: 12 });
    fireEvent.mouseMove(options()[1], { buttons: 1, clientX: 30, clientY: 12 });
    expect(actions.drag).toHaveBeenCalledTimes(1);
    expect(actions.drag.mock.calls[0][0]).toBe(model.hits[1].hit);
  });

  it('stands under the notebooks, which can be folded', async () => {
    const { list, model, options } = await renderResults();
    act(() => model.selection.setGrouped(true));
    const groups = within(list).getAllByRole('group');
    expect(groups.map(group => group.getAttribute('aria-label'))).toEqual(['In no file, 1', 'pricing_model.ipynb, 1']);
    act(() => model.selection.select('bb02'));
    // The name of the file stands for the result that is folded away with it.
    const chosen = (): (string | null)[] => [...list.querySelectorAll('.jp-mod-chosen')].map(one => one.textContent);
    expect(chosen()).toEqual([]);
    press(list, 'ArrowLeft');
    expect(options()).toHaveLength(1);
    expect(chosen()).toEqual(['pricing_model.ipynb1']);
    fireEvent.focus(list);
    press(list, 'ArrowRight');
    expect([options().length, model.selected, chosen()]).toEqual([2, 'bb02', []]);
    press(list, 'ArrowLeft');
    press(list, 'ArrowDown');
    expect(model.selected).toBe('aa01');
    act(() => model.selection.select('bb02'));
    press(list, 'ArrowUp');
    expect(model.selected).toBe('aa01');
    fireEvent.click(screen.getByText('pricing_model.ipynb'));
    expect(options()).toHaveLength(2);
    act(() => model.selection.foldAll(model.hits.map(one => one.hit.source)));
    expect(options()).toHaveLength(0);
    act(() => model.selection.foldAll([]));
    expect(options()).toHaveLength(2);
  });
});
