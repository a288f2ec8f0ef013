/** Values of the server for specs of the debugger and the index: a week of a data scientist in Zürich. */

import type { Event } from '@jupyterlab/services';
import { nullTranslator } from '@jupyterlab/translation';
import { Signal, type ISignal } from '@lumino/signaling';

import type {
  IAnswer,
  IEvidence,
  IFolder,
  IHit,
  IJob,
  IListed,
  IModel,
  IPlace,
  IProfile,
  IRecent,
  IStatus
} from '../../api/types';
import type { IndexApi } from '../../models/indexModel';

export const trans = nullTranslator.load('jupyter_memory');

/** What the panel does outside of itself, noted and not done. */
export const actions = {
  open: jest.fn(),
  insert: jest.fn(),
  copy: jest.fn(),
  drag: jest.fn(),
  toNotebook: jest.fn(),
  around: jest.fn(async () => []),
  insertCells: jest.fn(),
  render: null,
  highlight: null,
  hasNotebook: false
};

export const TERMS = ['keyword', 'semantic_margin', 'max_sim', 'time', 'tier'];

function evidence(...rows: [number | null, number | null, number][]): Record<string, IEvidence> {
  const told = rows.map(([value, rank, contribution]) => ({ value, rank, contribution }));
  return Object.fromEntries(TERMS.map((term, i) => [term, told[i]]));
}

export function hit(more: Partial<IHit> = {}): IHit {
  return {
    rank: 1,
    memory_id: 'aa01',
    title: 'normalise_notes λ',
    snippet: 'We normalise the prices by the regional median in Zürich.',
    highlights: [[3, 12]],
    badges: 'KW+SEM',
    score: 1.76,
    strength: 0.99,
    kind: 'note',
    tier: 'note',
    source: '',
    location: '1',
    tags: ['pricing'],
    event_at: '2026-10-14T09:00:00+00:00',
    freshness: 'current',
    thumbnails: 0,
    kw_rank: 1,
    sem_rank: 2,
    signals: evidence([9.138, 1, 0.457], [70.98, 2, 0.426], [0.714, 4, 0.857], [null, null, 0], [3, 108, 0.02]),
    ...more
  };
}

export const place: IPlace = {
  path: null,
  closed: 'It is in no file.',
  cell: null,
  index: null,
  line: null,
  begins: '',
  changed: false,
  pinned: false,
  lang: '',
  context: ''
};

export function answer(more: Partial<IAnswer> = {}): IAnswer {
  const second = hit({
    rank: 2,
    memory_id: 'bb02',
    title: 'Log-scale the prices',
    score: 0.9,
    signals: evidence([8.02, 2, 0.4], [60, 1, 0.5], [0, 9, 0], [null, null, 0], [2, 1, 0])
  });
  return {
    query: 'how did we normalise the prices last month',
    query_id: 'q1',
    profile: 'auto',
    verdict: 'strong',
    strength: 0.987,
    query_class: 'semantic',
    time_range: ['2026-10-01T00:00:00+02:00', '2026-11-01T00:00:00+01:00'],
    time_read: {
      phrase: 'last month',
      since: '2026-10-01T00:00:00+02:00',
      until: '2026-11-01T00:00:00+01:00'
    },
    counts: { keyword: 38, vector: 40, fused: 1061 },
    timings: { embed: 4.13, keyword: 1.2, vector: 2.9, total: 19.4 },
    notices: [],
    terms: TERMS,
    facets: { kind: {}, lang: {}, tier: {}, tag: {} },
    hits: [hit(), second],
    places: [place, place],
    lists: {
      keyword: [listed('aa01', 1, 9.138), listed('bb02', 2, 8.02), listed('cc03', 3, 4.4)],
      vector: [listed('bb02', 1, 0.712), listed('aa01', 2, 0.567)],
      fused: [listed('aa01', 1, 1.76), listed('bb02', 2, 0.9), listed('cc03', 3, 0.21)],
      without: {
        aa01: { keyword: 3, semantic_margin: 1, max_sim: 2, time: 1, tier: 1 },
        bb02: { keyword: 2, semantic_margin: 4, max_sim: 1, time: 2, tier: 2 }
      }
    },
    ...more
  };
}

const TITLES: Record<string, string> = {
  aa01: 'normalise_notes λ',
  bb02: 'Log-scale the prices',
  cc03: 'Price outliers'
};

export function listed(memory_id: string, rank: number, score: number): IListed {
  return { memory_id, title: TITLES[memory_id] ?? '', rank, score, begins: '' };
}

export const profiles: IProfile[] = [
  {
    name: 'auto',
    summary: 'The default: words and meaning.',
    formula: '0.05*keyword + 0.006*semantic_margin + 0.06/(0 + tier)',
    terms: ['keyword', 'semantic_margin', 'tier'],
    default: true
  },
  {
    name: 'trovella',
    summary: 'Two signals by reciprocal ranks.',
    formula: '1/(60 + keyword_rank) + 1/(60 + vector_rank)',
    terms: ['keyword', 'vector'],
    default: false
  },
  {
    name: 'vault',
    summary: 'Many signals, tags among them.',
    formula: '0.25*vector + 0.2*keyword + 0.15*tags',
    terms: ['vector', 'keyword', 'tags'],
    default: false
  }
];

export const recent: IRecent[] = [
  {
    query_id: 'q1',
    query: 'how did we normalise the prices last month',
    profile: 'auto',
    at: '2026-11-20T09:00:00+00:00',
    origin: 'panel',
    hits: 12,
    client: '',
    tool: ''
  },
  {
    query_id: 'q0',
    query: 'Zürich λ prices',
    profile: 'trovella',
    at: '2026-11-19T09:00:00+00:00',
    origin: 'magic',
    hits: 1,
    client: '',
    tool: ''
  }
];

export const ROOT = '/home/ada/work';

export function folder(more: Partial<IFolder> = {}): IFolder {
  return {
    path: `${ROOT}/notebooks/zürich`,
    watched: true,
    files: 39,
    memories: 312,
    changed: null,
    indexed_at: '2026-11-20T09:00:00+00:00',
    exists: true,
    ...more
  };
}

export function job(more: Partial<IJob> = {}): IJob {
  return {
    job_id: 'j1',
    path: `${ROOT}/notebooks/zürich`,
    model: '',
    state: 'running',
    done: 120,
    total: 400,
    summary: '',
    failed: [],
    skipped: [],
    ...more
  };
}

export const models: IModel[] = [
  {
    name: 'static',
    title: 'Comes with the package',
    active: true,
    dimensions: 256,
    state: 'in use',
    bytes: 8_300_000,
    licence: 'MIT',
    languages: 'English',
    download: 0,
    origin: '',
    needs: [],
    problem: ''
  },
  {
    name: 'nomic',
    title: 'Better with questions',
    active: false,
    dimensions: 768,
    state: 'not here',
    bytes: 547_000_000,
    licence: 'Apache-2.0',
    languages: 'English',
    download: 547_000_000,
    origin: 'https://huggingface.co/λ',
    needs: ['mlx'],
    problem: ''
  }
];

export function status(more: Partial<IStatus> = {}): IStatus {
  return {
    version: '0.1.0',
    api: 1,
    store: {
      path: '/home/ada/.local/share/jupyter/memory/memory.sqlite',
      exists: true,
      memories: 12408,
      files: 39,
      bytes: 148_312_000,
      read_only: false
    },
    stores: ['own'],
    model: 'static',
    folders: [folder()],
    jobs: [],
    notices: [],
    log_searches: true,
    history: { kernels: 0, runs: 0, texts: 0, since: null },
    root: ROOT,
    ...more
  };
}

/** A server of the index that a spec can steer. */
export function indexApi(first: IStatus = status()): jest.Mocked<IndexApi> & { now: IStatus } {
  const api: jest.Mocked<IndexApi> & { now: IStatus } = {
    now: first,
    status: jest.fn(async () => api.now),
    index: jest.fn(async (path: string) => job({ path, state: 'waiting', done: 0, total: null })),
    cancelJob: jest.fn(async (_job_id: string) => job({ state: 'cancelled', summary: 'Stopped.' })),
    folders: jest.fn(async () => api.now.folders.map(one => ({ ...one, changed: 3 }))),
    setFolder: jest.fn(async ({ path, watched, remove }: { path: string; watched?: boolean; remove?: boolean }) => {
      const folders = api.now.folders
        .filter(one => !(remove && one.path === path))
        .map(one => (one.path === path && watched !== undefined ? { ...one, watched } : one));
      api.now = { ...api.now, folders };
      return folders;
    }),
    models: jest.fn(async () => models),
    useModel: jest.fn(async (model: string) => job({ job_id: 'm1', path: '', model, state: 'waiting', total: null })),
    doctor: jest.fn(async () => [] as string[])
  };
  return api;
}

/** An event bus that a spec speaks on. */
export class Bus {
  readonly stream = new Signal<this, Event.Emission>(this);

  get manager(): Event.IManager {
    return { stream: this.stream as ISignal<this, Event.Emission> } as unknown as Event.IManager;
  }

  say(schema_id: string, data: object): void {
    this.stream.emit({ schema_id, ...data } as Event.Emission);
  }
}

/** Let the promises that are settled go on. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 12; i++) {
    await Promise.resolve();
  }
}

/** Nobody picks anything. */
export const picks = { folderNow: () => '', pickFolder: async () => null, pickFile: async () => null };
