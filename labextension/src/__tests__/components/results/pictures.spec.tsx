import { act, fireEvent, screen, within } from '@testing-library/react';

import { press, renderResults } from '../../helpers/renderResults';
import { advance, found, type IReceived, item, RawResponse } from '../../helpers/server';

/** What is observed, until it comes into view. */
let awaited: (() => void)[] = [];
globalThis.IntersectionObserver = class {
  constructor(private readonly _seen: (entries: { isIntersecting: boolean }[]) => void) {}
  observe = (): void => void awaited.push(() => this._seen([{ isIntersecting: true }]));
  disconnect = (): void => undefined;
} as unknown as typeof IntersectionObserver;

async function seen(): Promise<void> {
  await act(async () => {
    awaited.splice(0).forEach(one => one());
    await advance(1);
  });
}

beforeEach(() => {
  awaited = [];
  jest.useFakeTimers();
});
afterEach(() => jest.useRealTimers());

const title = 'Cleaning › Prices';

/** An answer whose second hit shows pictures. */
function pictured(thumbnails: number): ReturnType<typeof found> {
  const answer = found();
  return { ...answer, hits: [answer.hits[0], { ...answer.hits[1], thumbnails }] };
}

/** The server's answer: a picture that tells what it was asked for. */
const pictures = ({ body }: IReceived): object => ({
  picture: `data:image/webp;base64,${body.memory_id}${body.place}`
});

describe('a card with pictures', () => {
  it('shows the first of them, fetched by id when it comes into view, and named by its cell', async () => {
    const { server, options } = await renderResults(pictured(3));
    const [note, cell] = options();
    expect(within(note).queryByRole('img')).toBeNull();
    expect(server.bodies('POST thumbnail')).toEqual([]);
    server.on('POST thumbnail', pictures);
    await seen();
    expect(server.bodies('POST thumbnail')).toEqual([{ memory_id: 'bb02', place: 0 }]);
    const picture = within(cell).getByRole<HTMLImageElement>('img');
    expect(picture.alt).toBe(`Picture 1 of 3: ${title}`);
    expect(picture.src).toBe('data:image/webp;base64,bb020');
    expect(picture.title).toBe('Enlarge the 3 pictures');
  });

  it('is no longer pictured once the store has none', async () => {
    const { server, options } = await renderResults(pictured(1));
    server.on('POST thumbnail', () => new RawResponse(404, { message: '', reason: 'NoPicture' }));
    await seen();
    expect(server.bodies('POST thumbnail')).toHaveLength(1);
    expect(within(options()[1]).queryByRole('img')).toBeNull();
  });

  it('enlarges all of them with the whole text, by mouse and by keyboard', async () => {
    const { server, model, list, options } = await renderResults(pictured(2));
    server.on('POST item', ({ body }) => item((body as { memory_id: string }).memory_id));
    server.on('POST access', () => ({ recorded: true }));
    server.on('POST thumbnail', pictures);
    await seen();
    await act(async () => {
      fireEvent.click(within(options()[1]).getByRole('img'), { detail: 1 });
      await advance(1);
    });
    await seen();
    const large = screen.getAllByRole<HTMLImageElement>('img');
    expect(large.map(one => one.alt)).toEqual([`Picture 1 of 2: ${title}`, `Picture 2 of 2: ${title}`]);
    expect(large.map(one => one.src.slice(-5))).toEqual(['bb020', 'bb021']);
    expect(large.every(one => one.closest('[role="option"]') === null)).toBe(true);
    expect(model.selected).toBe('bb02');
    await act(async () => {
      press(list, ' ');
      await advance(1);
    });
    await seen();
    expect(within(options()[1]).getAllByRole('img')).toHaveLength(1);
  });

  it('opens its file by a double click on the picture, once', async () => {
    const { server, model, actions, options } = await renderResults(pictured(1));
    server.on('POST thumbnail', pictures);
    await seen();
    fireEvent.click(within(options()[1]).getByRole('img'), { detail: 2 });
    expect(actions.open).toHaveBeenCalledTimes(1);
    expect(model.texts.all.size).toBe(0);
  });
});
