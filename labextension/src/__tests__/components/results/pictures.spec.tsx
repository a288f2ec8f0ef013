import { act, fireEvent, screen, within } from '@testing-library/react';

import { press, renderResults } from '../../helpers/renderResults';
import { advance, found, item } from '../../helpers/server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const title = 'Cleaning › Prices';

/** An answer whose second hit shows pictures. */
function pictured(thumbnails: number): ReturnType<typeof found> {
  const answer = found();
  return { ...answer, hits: [answer.hits[0], { ...answer.hits[1], thumbnails }] };
}

describe('a card with pictures', () => {
  it('shows the first of them, fetched by id when it comes into view, and named by its cell', async () => {
    const { options } = await renderResults(pictured(3));
    const [note, cell] = options();
    expect(within(note).queryByRole('img')).toBeNull();
    const picture = within(cell).getByRole<HTMLImageElement>('img');
    expect(picture.alt).toBe(`Picture 1 of 3: ${title}`);
    expect(picture.getAttribute('src')).toMatch(/\/jupyter-memory\/thumbnail\?memory_id=bb02&place=0$/);
    expect(picture.getAttribute('loading')).toBe('lazy');
    expect(picture.title).toBe('Enlarge the 3 pictures');
  });

  it('is no longer pictured once the store has none', async () => {
    const { options } = await renderResults(pictured(1));
    fireEvent.error(within(options()[1]).getByRole('img'));
    expect(within(options()[1]).queryByRole('img')).toBeNull();
  });

  it('enlarges all of them with the whole text, by mouse and by keyboard', async () => {
    const { server, model, list, options } = await renderResults(pictured(2));
    server.on('POST item', ({ body }) => item((body as { memory_id: string }).memory_id));
    server.on('POST access', () => ({ recorded: true }));
    await act(async () => {
      fireEvent.click(within(options()[1]).getByRole('img'), { detail: 1 });
      await advance(1);
    });
    const large = screen.getAllByRole<HTMLImageElement>('img');
    expect(large.map(one => one.alt)).toEqual([`Picture 1 of 2: ${title}`, `Picture 2 of 2: ${title}`]);
    expect(large.map(one => one.src.slice(-7))).toEqual(['place=0', 'place=1']);
    expect(large.every(one => one.closest('[role="option"]') === null)).toBe(true);
    expect(model.selected).toBe('bb02');
    await act(async () => {
      press(list, ' ');
      await advance(1);
    });
    expect(within(options()[1]).getAllByRole('img')).toHaveLength(1);
  });

  it('opens its file by a double click on the picture, once', async () => {
    const { model, actions, options } = await renderResults(pictured(1));
    fireEvent.click(within(options()[1]).getByRole('img'), { detail: 2 });
    expect(actions.open).toHaveBeenCalledTimes(1);
    expect(model.texts.all.size).toBe(0);
  });
});
