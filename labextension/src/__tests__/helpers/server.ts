/** A server of the memory for specs: the real `MemoryApi` talks to it, and it notes what was asked. */

import { ServerConnection } from '@jupyterlab/services';

import { MemoryApi } from '../../api/memoryApi';
import type { IAnswer, IItem, IPlace, ISearch } from '../../api/types';
import { SearchModel } from '../../models/searchModel';
import { answer, hit, place, profiles, settle, status } from './samples';

export interface IReceived {
  method: string;
  route: string;
  body: any; // eslint-disable-line @typescript-eslint/no-explicit-any
  url: string;
  signal: AbortSignal;
}

type Reply = (asked: IReceived) => unknown;

/** What is not JSON but a whole response. */
export class RawResponse {
  constructor(
    readonly status: number,
    readonly body: string | object
  ) {}
}

export const notebook: IPlace = {
  ...place,
  path: 'notebooks/zürich/pricing_model.ipynb',
  closed: null,
  cell: 'a1b2',
  begins: 'df["price"] = np.log1p(df["price"])',
  lang: 'python'
};

/** An answer of two: a note that is in no file, and a cell of a notebook. */
export function found(more: Partial<IAnswer> = {}): IAnswer {
  const cell = hit({
    rank: 2,
    memory_id: 'bb02',
    title: 'pricing_model.ipynb – Cleaning › Prices',
    snippet: 'df["price"] = np.log1p(df["price"])',
    highlights: [[4, 9]],
    badges: 'SEM',
    kind: 'cell',
    tier: 'file',
    source: '/home/ada/work/notebooks/zürich/pricing_model.ipynb',
    strength: 0.4,
    tags: []
  });
  return answer({
    hits: [hit(), cell],
    places: [place, notebook],
    counts: { keyword: 38, vector: 40, fused: 61 },
    facets: { kind: { cell: 9, note: 2, file: 1 }, lang: { python: 8, markdown: 4 }, tier: { file: 10 }, tag: {} },
    lists: undefined,
    ...more
  });
}

export function item(memory_id: string, more: Partial<IItem> = {}): IItem {
  const { title, kind, tier, source, tags, event_at } = hit();
  const known = { title, kind, tier, source, tags, event_at };
  return { memory_id, text: 'text', lang: '', place, ...known, ...more };
}

export class Server {
  readonly asked: IReceived[] = [];

  /** Answers by `METHOD route`. */
  readonly replies: Record<string, Reply> = {
    'GET status': () => status(),
    'GET profiles': () => ({ profiles }),
    'POST search': ({ body }) => found({ query: (body as ISearch).query }),
    'POST browse': () => found({ query: '', verdict: null, counts: { keyword: 0, vector: 0, fused: 2 } }),
    'POST related': () => found({ query: '' }),
    'POST related-to': () => found({ query: '', verdict: null }),
    'POST forget': ({ body }) => ({ forgotten: body.memory_ids.length }),
    'POST pin': ({ body }) => item(body.memory_id, { tier: 'core', place: { ...place, pinned: body.pinned } }),
    'POST update': ({ body }) => item(body.memory_id, { tags: body.tags }),
    'POST feedback': () => ({ recorded: true }),
    'POST access': () => ({ recorded: true }),
    'POST index': ({ body }) => ({ job_id: 'j1', path: body.path, state: 'waiting', done: 0, total: null })
  };

  readonly api = new MemoryApi(
    ServerConnection.makeSettings({
      baseUrl: 'http://localhost:8888/a%40b/',
      fetch: (input, init) => this.fetch(input as Request, init)
    })
  );

  /** The bodies that a route was sent. */
  bodies(route: string): IReceived['body'][] {
    return this.asked.filter(one => `${one.method} ${one.route}` === route).map(one => one.body);
  }

  /** Answer a route with what stands here, from now on; a function holds it back or fails. */
  on(route: string, reply: Reply): void {
    this.replies[route] = reply;
  }

  private async fetch(request: Request, _init?: RequestInit): Promise<Response> {
    const text = await request.text();
    const { pathname } = new URL(request.url);
    const asked: IReceived = {
      method: request.method,
      route: pathname.replace('/a%40b/jupyter-memory/', ''),
      body: text ? JSON.parse(text) : undefined,
      url: request.url,
      signal: request.signal
    };
    this.asked.push(asked);
    const reply = await this.replies[`${asked.method} ${asked.route}`]?.(asked);
    if (reply instanceof RawResponse) {
      const body = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body);
      return new Response(body, { status: reply.status });
    }
    return new Response(JSON.stringify(reply), { status: 200 });
  }
}

/** Let so many milliseconds of fake time pass, and what is due in them happen. */
export async function advance(ms = 0): Promise<void> {
  await jest.advanceTimersByTimeAsync(ms);
  await settle();
  await jest.advanceTimersByTimeAsync(0);
}

/** A model in front of a server that knows what it was asked. */
export function connectedModel(): { server: Server; model: SearchModel; searched: () => ISearch[] } {
  const server = new Server();
  const model = new SearchModel({ api: server.api });
  return { server, model, searched: () => server.bodies('POST search') };
}
