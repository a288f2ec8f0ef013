import { act, cleanup, fireEvent, screen } from '@testing-library/react';

import type { IAnswer } from '../../../api/types';
import { renderResults } from '../../helpers/renderResults';
import { hit, job, place, status } from '../../helpers/samples';
import { found, advance, RawResponse } from '../../helpers/server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('around the list', () => {
  it('tells a screen reader how many results there are', async () => {
    await renderResults();
    expect(screen.getAllByRole('status')[0].textContent).toBe('2 results');
  });

  it('offers a forgotten memory back', async () => {
    const { model, options } = await renderResults();
    act(() => model.forget('aa01'));
    expect(options()).toHaveLength(1);
    expect(screen.getByText('Forgotten: normalise_notes λ')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Undo' }));
    expect(options()).toHaveLength(2);
    expect(screen.queryByText(/^Forgotten/)).toBeNull();
  });

  it('gives whoever is at it all the time to have a memory back', async () => {
    const { server, model } = await renderResults();
    act(() => model.forget('aa01'));
    const undo = screen.getByRole('button', { name: 'Undo' });
    const after = async (seconds: number): Promise<number> => {
      await act(() => advance(1000 * seconds));
      return server.bodies('POST forget').length;
    };
    fireEvent.mouseEnter(undo.parentElement!);
    expect(await after(60)).toBe(0);
    act(() => undo.focus());
    fireEvent.mouseLeave(undo.parentElement!);
    expect(await after(60)).toBe(0);
    act(() => undo.blur());
    expect(await after(5)).toBe(0);
    expect(await after(2)).toBe(1);
    expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull();
  });

  it('say where else an answer may lie that was not found in one place', async () => {
    const { model } = await renderResults(found({ verdict: 'none' }));
    await act(async () => {
      model.answers.setHere({ notebook: null, folder: 'notebooks', root: '/home/ada' });
      model.answers.setScope('folder');
      await advance();
    });
    expect(screen.getByText(/It may lie outside of notebooks\./)).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Search everywhere' }));
    expect(model.question.scope).toBeNull();
  });

  it('shows one line of notices, and all of them behind “more”', async () => {
    await renderResults(found({ notices: ['Read “last month” as October.', 'No cell ran then.'] }));
    const all = screen.getByText('No cell ran then.').closest('details')!;
    expect([all.open, all.querySelector('summary')!.textContent]).toEqual([
      false,
      'Read “last month” as October. more'
    ]);
  });

  it('shows the notices of the search', async () => {
    await renderResults(found({ notices: ['Read “last month” as 2026-10-01 … 2026-10-31.'] }));
    expect(screen.getByText(/^Read “last month”/)).toBeTruthy();
  });

  it('says what went wrong, and tries again', async () => {
    const { server, model, options } = await renderResults();
    server.on('POST search', () => new RawResponse(503, { message: 'The memory is locked.', reason: 'StoreLocked' }));
    await act(async () => {
      model.answers.setQuery('prices');
      await advance(300);
    });
    expect(screen.getByRole('alert').textContent).toContain('The memory is locked.');
    expect(options()).toHaveLength(2);
    // They answer the words before.
    expect(document.querySelector('.jp-mod-outdated')).not.toBeNull();
    server.on('POST search', () => found());
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Retry' }));
      await advance();
    });
    expect(screen.queryByRole('alert')).toBeNull();
    expect(document.querySelector('.jp-mod-outdated')).toBeNull();
  });

  it('leaves what is said of an empty store to what stands there', async () => {
    const { model } = await renderResults(found({ hits: [], places: [], notices: ['This store is empty.'] }));
    expect(screen.getByText('This store is empty.')).toBeTruthy();
    act(() => model.setStatus(status({ store: { ...status().store, memories: 0 }, jobs: [job()] })));
    expect(screen.queryByText('This store is empty.')).toBeNull();
  });

  it('does not call it an error that a question is typed before the first folder is indexed', async () => {
    const { server, model } = await renderResults(found({ hits: [], places: [] }));
    server.on('GET status', () => status({ store: { ...status().store, memories: 0 }, jobs: [] }));
    server.on('POST search', () => new RawResponse(409, { message: 'There is no store yet.', reason: 'NoStore' }));
    await act(async () => {
      model.answers.setQuery('prices');
      await advance(300);
    });
    // The first refusal says that the file is gone; from then on there is no answer left.
    await act(async () => {
      model.answers.setQuery('prices of');
      await advance(300);
    });
    expect(model.problem?.reason).toBe('NoStore');
    expect(screen.queryByRole('alert')).toBeNull();
    expect(screen.getByRole('button', { name: 'Index this folder' })).toBeTruthy();
  });

  it('keeps the keyboard when what had it is taken away', async () => {
    const { model, list, onLeave, server } = await renderResults();
    const choose = async (name: string): Promise<void> => {
      const button = screen.getByRole('button', { name });
      act(() => button.focus());
      await act(async () => {
        fireEvent.click(button, { detail: 0 });
        await advance();
      });
    };
    act(() => model.selection.select('aa01'));
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
    const { server, model, list } = await renderResults(page(20));
    server.on('POST search', () => page(30));
    const more = screen.getByRole('button', { name: 'Show more' });
    act(() => more.focus());
    await act(async () => {
      fireEvent.click(more, { detail: 0 });
      await advance();
    });
    expect([model.selected, document.activeElement === list]).toEqual(['m20', true]);
  });

  it('has more where there is more', async () => {
    const many = Array.from({ length: 20 }, (_, i) => hit({ memory_id: `m${i}`, rank: i + 1 }));
    const { server } = await renderResults(found({ hits: many, places: many.map(() => place) }));
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name: 'Show more' }));
      await advance();
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
    const { model } = await renderResults(found(), 'prices');
    act(() => model.selection.select('bb02'));
    act(() => model.selection.select('aa01'));
    await act(async () => {
      model.answers.setQuery('λ');
      await advance(300);
    });
    cleanup();
    expect(scrolled).toHaveBeenCalled();
    expect(said).not.toHaveBeenCalled();
    said.mockRestore();
  });
});
