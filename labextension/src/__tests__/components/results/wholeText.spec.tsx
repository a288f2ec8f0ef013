import { act, fireEvent, screen, within } from '@testing-library/react';

import { MAX_SHOWN } from '../../../components/results/excerpt';
import { type IRendered, press, renderResults } from '../../helpers/renderResults';
import { item, advance, RawResponse, found } from '../../helpers/server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const CODE = 'df["price"] = np.log1p(df["price"])\n\nfor λ in prices:\n    print(λ)';

/** Results whose texts the server tells: a note, and a cell. */
async function read(): Promise<IRendered> {
  const all = await renderResults();
  all.server.on('POST item', ({ body }) =>
    item(body.memory_id, { text: body.memory_id === 'bb02' ? CODE : '# Notes\n\nWe normalise the prices.\n' })
  );
  return all;
}

const version = (n: number, text: string, diff: string): object => ({
  version: n,
  when: '2026-03-06T12:00:00+00:00',
  outcome: 'error',
  error: 'KeyError',
  durations: n > 1 ? [1] : [],
  diff,
  text,
  result: n > 1 ? 'R² 0.78' : ''
});

const signs = (): HTMLElement[] => screen.getAllByRole('button', { name: /^Whole text of/ });
const texts = (): HTMLElement[] => screen.queryAllByRole('group', { name: /^Whole text of/ });
const state = (): (string | null)[] => signs().map(sign => sign.getAttribute('aria-expanded'));

async function turn(n: number): Promise<void> {
  fireEvent.click(signs()[n]);
  await act(() => advance());
}

describe('the sign of a card', () => {
  it('shows the whole text in place of the snippet, and folds it', async () => {
    const { server, options, model } = await read();
    expect(state()).toEqual(['false', 'false']);
    expect(server.bodies('POST item')).toEqual([]);
    await turn(1);
    expect(state()).toEqual(['false', 'true']);
    expect(server.bodies('POST item')).toEqual([{ memory_id: 'bb02' }]);
    expect(server.bodies('POST access')).toEqual([{ memory_id: 'bb02' }]);
    expect(server.asked.every(({ url }) => !url.includes('bb02'))).toBe(true);
    expect(texts().map(text => text.textContent)).toEqual([CODE]);
    expect(signs()[1].getAttribute('aria-controls')).toBe(texts()[0].id);
    expect(options()[1].querySelector('.jp-Memory-snippet')).toBeNull();
    expect(model.selected).toBeNull();
    await turn(1);
    expect([state(), texts()]).toEqual([['false', 'false'], []]);
    expect(options()[1].querySelector('.jp-Memory-snippet')).toBeTruthy();
    expect(server.bodies('POST access')).toHaveLength(1);
  });

  it('shows the cells before and after, as they are in the notebook now', async () => {
    const { actions } = await read();
    const source = 'for λ in prices:\n    print(λ)';
    const cells = [-1, 0, 1].map(offset => ({ index: 3 + offset, offset, isCode: true, source }));
    actions.around.mockResolvedValue(cells);
    await turn(1);
    const whole = texts()[0].parentElement!;
    expect([...whole.children].map(part => part.textContent?.slice(0, 6))).toEqual([
      'cell 3',
      'Insert',
      'df["pr',
      'cell 5'
    ]);
    const inserts = within(whole).getAllByRole('button');
    expect(inserts.map(({ textContent }) => textContent)).toEqual([
      'Insert',
      'Insert what runs',
      'Insert all 3',
      'Insert',
      'Insert'
    ]);
    inserts.forEach(button => fireEvent.click(button));
    expect(actions.insertCells.mock.calls).toEqual([[[cells[0]]], [cells], [[cells[2]]]]);
    expect(actions.insert.mock.calls.map(([{ memory_id }, runs]) => [memory_id, runs])).toEqual([
      ['bb02', true],
      ['bb02', undefined]
    ]);
  });

  it('marks the question’s words in all of the text, which stands outside the list', async () => {
    const { list } = await read();
    await turn(1);
    expect([...texts()[0].querySelectorAll('mark')].map(mark => mark.textContent)).toEqual(['price', 'price']);
    expect(texts()[0].tabIndex).toBe(0);
    expect(list.contains(texts()[0])).toBe(false);
  });

  it('shows code in one width, and other text in lines that wrap', async () => {
    await read();
    await turn(0);
    await turn(1);
    expect(texts().map(text => [text.classList.contains('jp-mod-code'), text.getAttribute('dir')])).toEqual([
      [false, 'auto'],
      [true, 'ltr']
    ]);
  });

  it('shows what looks like HTML as it was written', async () => {
    const { server } = await read();
    server.on('POST item', ({ body }) => item(body.memory_id, { text: '<img src=x onerror=y> price' }));
    await turn(1);
    expect(texts()[0].querySelector('img')).toBeNull();
    expect(texts()[0].textContent).toBe('<img src=x onerror=y> price');
  });

  it('shows a text with a long gap in it at once, and without the blanks at its end', async () => {
    const { server } = await read();
    const gap = `price${' '.repeat(200_000)}λ`;
    server.on('POST item', ({ body }) => item(body.memory_id, { text: `${gap}\n\n` }));
    const began = jest.getRealSystemTime();
    await turn(1);
    expect(texts()[0].textContent).toBe(gap.slice(0, MAX_SHOWN));
    // A search for the end that begins anew at each blank takes minutes.
    expect(jest.getRealSystemTime() - began).toBeLessThan(10_000);
  });

  it('tells how much of a huge text is left out, and how to come by it', async () => {
    const { server } = await read();
    server.on('POST item', ({ body }) => item(body.memory_id, { text: 'x'.repeat(MAX_SHOWN + 12_345) }));
    await turn(0);
    await turn(1);
    expect(texts()[1].textContent).toHaveLength(MAX_SHOWN);
    expect(screen.getByText('12,345 more characters follow. Open shows them all.')).toBeTruthy();
    expect(screen.getByText('12,345 more characters follow. Copy takes them all.')).toBeTruthy();
  });
});

describe('the versions of a cell', () => {
  it('are shown with what they changed, and an old one is inserted', async () => {
    const answer = found();
    answer.places[1].seconds = [2.5, 0.25];
    const { server, actions, options } = await renderResults(answer);
    server.on('POST item', () => item('bb02', { text: CODE }));
    server.on('POST versions', () => ({
      versions: [
        version(2, 'fit(2)', '--- before\n+++ after\n@@ -1 +1 @@\n-fit(1)\n+fit(2)'),
        version(1, 'fit(1)', '')
      ],
      notice: ''
    }));
    expect(options()[1].querySelector('[title$="Last runs: 2.5 s, 0.3 s"]')).toBeTruthy();
    await turn(1);
    expect(server.bodies('POST versions')).toEqual([]);
    fireEvent.click(screen.getByRole('button', { name: 'Versions' }));
    await act(() => advance());
    expect(server.bodies('POST versions')).toEqual([{ memory_id: 'bb02' }]);
    const whole = texts()[0].parentElement!;
    expect(whole.textContent).toContain('-fit(1)\n+fit(2)version 1 · ');
    expect(whole.textContent).toMatch(/version 2 · .* · KeyError · Last runs: 1.0 s · R² 0.78/);
    fireEvent.click(within(whole).getAllByRole('button', { name: 'Insert' })[2]);
    expect(actions.insertCells).toHaveBeenCalledWith([expect.objectContaining({ isCode: true, source: 'fit(1)' })]);
  });

  it('say why there are none, or that the server fails, and ask again', async () => {
    const answer = found();
    answer.places[1].seconds = [1];
    const { server } = await renderResults(answer);
    server.on('POST item', () => item('bb02', { text: CODE }));
    server.on('POST versions', () => new RawResponse(500, { message: 'The store is locked.', reason: 'StoreLocked' }));
    await turn(1);
    fireEvent.click(screen.getByRole('button', { name: 'Versions' }));
    await act(() => advance());
    server.on('POST versions', () => ({ versions: [], notice: 'The history has no run of it.' }));
    fireEvent.click(screen.getByRole('button', { name: 'Retry' }));
    await act(() => advance());
    expect(texts()[0].parentElement!.textContent).toContain('The history has no run of it.');
  });
});

describe('a text on its way', () => {
  it('leaves the snippet until it is here, and is not waited for by whoever folds it', async () => {
    const { server, options } = await read();
    let come = (_: unknown): void => undefined;
    server.on('POST item', () => new Promise(resolve => (come = resolve)));
    await turn(1);
    expect(texts()[0].getAttribute('aria-busy')).toBe('true');
    expect(texts()[0].textContent).toBe('Reading…');
    expect(options()[1].querySelector('.jp-Memory-snippet')).toBeTruthy();
    await turn(1);
    expect(server.asked.at(-1)?.signal.aborted).toBe(true);
    await act(async () => {
      come(item('bb02'));
      await advance();
    });
    expect(texts()).toEqual([]);
  });

  it('says what the server has against it, and asks again', async () => {
    const { server, model } = await read();
    server.on('POST item', () => new RawResponse(500, { message: 'The store is locked.', reason: 'StoreLocked' }));
    await turn(1);
    expect(texts()[0].textContent).toBe('The store is locked.');
    expect(model.problem).toBeNull();
    server.on('POST item', () => item('bb02', { text: CODE }));
    fireEvent.click(screen.getByRole('button', { name: 'Retry' }));
    await act(() => advance());
    expect(texts()[0].textContent).toBe(CODE);
  });

  it('of a memory that was forgotten meanwhile takes its card away, and says so', async () => {
    const { server, options } = await read();
    server.on('POST item', () => new RawResponse(404, { message: 'No such memory.', reason: 'UnknownMemory' }));
    await turn(1);
    expect(options()).toHaveLength(1);
    expect(screen.getByRole('alert').textContent).toContain('This cell or note no longer exists');
  });

  it('of a server that is gone comes once the server is back', async () => {
    const { server, model } = await read();
    server.on('POST item', () => new RawResponse(503, ''));
    await turn(1);
    expect(texts()[0].textContent).toBe('The Jupyter server does not answer.');
    expect(model.problem?.reason).toBe('Unreachable');
    server.on('POST item', () => item('bb02', { text: CODE }));
    await act(async () => {
      await Promise.all([model.refresh(), advance()]);
    });
    expect(texts()[0].textContent).toBe(CODE);
  });
});

describe('unfolded cards', () => {
  it('stay so for the same question, with their texts as they are now', async () => {
    const { server, model } = await read();
    await turn(0);
    await turn(1);
    server.on('POST item', ({ body }) => item(body.memory_id, { text: `new ${body.memory_id}` }));
    await act(async () => {
      await Promise.all([model.refresh(), advance()]);
    });
    expect(texts().map(text => text.textContent)).toEqual(['new aa01', 'new bb02']);
    await act(() => model.edits.pin('aa01', true));
    expect(state()).toEqual(['true', 'true']);
  });

  it('are folded when another question is answered, and kept nowhere', async () => {
    const { server, model } = await read();
    await turn(1);
    expect(JSON.stringify(model)).not.toContain('log1p');
    server.on('POST search', () => found());
    await act(async () => {
      model.answers.setQuery('price of λ');
      await advance(300);
    });
    expect(state()).toEqual(['false', 'false']);
    expect(model.texts.all.size).toBe(0);
  });
});

describe('without a mouse', () => {
  it('Space turns the selected card, and a screen reader is told', async () => {
    const { list } = await read();
    fireEvent.focus(list);
    press(list, ' ');
    await act(() => advance());
    expect(state()).toEqual(['true', 'false']);
    expect(screen.getByText('Whole text of normalise_notes λ: 3 lines')).toBeTruthy();
    press(list, ' ');
    expect(state()).toEqual(['false', 'false']);
    expect(screen.getByText('Folded: normalise_notes λ')).toBeTruthy();
  });

  it('a screen reader is told of a folded card once, not again with the next question that finds it', async () => {
    const { list, model } = await read();
    fireEvent.focus(list);
    press(list, ' ');
    press(list, ' ');
    expect(screen.getByText(/^Folded: /)).toBeTruthy();
    await act(async () => {
      model.answers.setQuery('price of λ');
      await advance(300);
    });
    expect(model.hits).toHaveLength(2);
    expect(screen.queryByText(/^Folded: /)).toBeNull();
  });

  it('Right shows the text and goes into it, Escape goes back, Left folds it', async () => {
    const { list } = await read();
    act(() => list.focus());
    press(list, 'ArrowDown');
    press(list, 'ArrowRight');
    await act(() => advance());
    expect([state(), document.activeElement]).toEqual([['false', 'true'], list]);
    press(list, 'ArrowRight');
    expect(document.activeElement).toBe(texts()[0]);
    fireEvent.keyDown(texts()[0], { key: 'Escape' });
    expect(document.activeElement).toBe(list);
    press(list, 'ArrowLeft');
    expect(state()).toEqual(['false', 'false']);
  });

  it('Escape goes back to the card that was read, also where the mouse unfolded it', async () => {
    const { list, model } = await read();
    await turn(1);
    expect(model.selected).toBeNull();
    fireEvent.keyDown(texts()[0], { key: 'Escape' });
    expect([model.selected, document.activeElement]).toEqual(['bb02', list]);
    act(() => model.selection.select('aa01'));
    fireEvent.keyDown(signs()[1], { key: 'Escape' });
    expect(model.selected).toBe('bb02');
  });

  it('Left folds the text first, then its notebook', async () => {
    const { list, model, options } = await read();
    act(() => {
      model.selection.setGrouped(true);
      model.selection.select('bb02');
    });
    press(list, 'ArrowRight');
    await act(() => advance());
    press(list, 'ArrowLeft');
    expect([state(), options().length]).toEqual([['false', 'false'], 2]);
    press(list, 'ArrowLeft');
    expect(options()).toHaveLength(1);
    press(list, 'ArrowRight');
    expect([state(), options().length]).toEqual([['false', 'false'], 2]);
  });

  it('Tab stops at the sign and the text of the selected card and of those unfolded', async () => {
    const { model } = await read();
    expect(signs().map(sign => sign.tabIndex)).toEqual([-1, -1]);
    act(() => model.selection.select('aa01'));
    await turn(1);
    expect(signs().map(sign => sign.tabIndex)).toEqual([0, 0]);
    // In the order of the screen: sign, actions, sign, text.
    const actions = screen.getByRole('group', { name: /^Actions for/ });
    const behind = (one: Element, other: Element): boolean =>
      !!(other.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING);
    expect(behind(actions, signs()[0]) && behind(signs()[1], actions) && behind(texts()[0], signs()[1])).toBe(true);
    expect(within(actions).queryByRole('group')).toBeNull();
  });

  it('Ctrl A takes the whole text and nothing else', async () => {
    await read();
    await turn(1);
    fireEvent.keyDown(texts()[0], { key: 'a', ctrlKey: true });
    expect(window.getSelection()?.toString()).toBe(CODE);
  });
});

describe('Markdown', () => {
  const rendered = (text: string) => {
    const node = document.createElement('div');
    node.innerHTML = `<h1>${text.slice(2, 7)}</h1><p>We <em>normalise</em> the price, or $price^2$.</p>`;
    return { node, typeset: jest.fn(), dispose: jest.fn() };
  };

  it('is rendered by Lab, with the words of the question marked, but none in a formula', async () => {
    const { actions, server, model } = await read();
    const made = jest.fn(async (text: string) => rendered(text));
    Object.assign(actions, { render: made });
    server.on('POST search', () => {
      const answer = found();
      answer.hits[0].kind = 'note';
      answer.places[answer.hits[0].memory_id].lang = 'markdown';
      return answer;
    });
    await act(async () => {
      model.answers.setQuery('price of λ');
      await advance(300);
    });
    await turn(0);
    expect(made).toHaveBeenCalledWith('# Notes\n\nWe normalise the prices.');
    expect(texts()[0].querySelector('h1')!.textContent).toBe('Notes');
    expect(texts()[0].querySelectorAll('em')).toHaveLength(1);
    expect(texts()[0].textContent).toContain('$price^2$');
    expect([...texts()[0].querySelectorAll('mark')].filter(mark => mark.textContent === 'price')).toHaveLength(1);
    expect(texts()[0].className).not.toContain('jp-mod-code');
    await turn(0);
    const [{ value }] = made.mock.results;
    expect((await value).dispose).toHaveBeenCalled();
    expect((await value).typeset).toHaveBeenCalled();
  });
});
