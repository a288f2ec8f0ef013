/** What the panel reads and writes of the REST interface; a test compares it with the schemas. */

export type QueryClass = 'keyword' | 'balanced' | 'semantic';

export type Verdict = 'strong' | 'weak' | 'none';

/** The evidence of one signal for a hit: its raw value, the rank of that value, and what it added to the score. */
export interface IEvidence {
  value: number | null;
  rank: number | null;
  contribution: number;
}

/** A search result; the same object that `jupyter-memory search --json` prints. */
export interface IHit {
  rank: number;
  /** Of another store than the own one, its name stands before it: `team:3f2a…`. */
  memory_id: string;
  title: string;
  /** Prose in one line, code in up to four. */
  snippet: string;
  /** `[start, end)` in code points of `snippet`, not UTF-16 units. */
  highlights: [number, number][];
  badges: '' | 'KW' | 'SEM' | 'KW+SEM';
  score: number | null;
  /** 0..1, or null where it is not calibrated. */
  strength: number | null;
  kind: string;
  tier: string;
  source: string;
  location: string;
  /** Where several stores were asked. */
  store?: string;
  tags: string[];
  event_at: string | null;
  freshness: 'current' | 'changed' | 'gone' | 'unknown';
  /** Where it does not hold now: `not valid after 2026-03-31`. */
  validity?: string;
  thumbnails: number;
  /** What a person says of the nearest folder above it that has a description. */
  folder_description?: string;
  kw_rank: number | null;
  sem_rank: number | null;
  signals: Record<string, IEvidence>;
}

/** Where a memory can be opened in this Lab, and whether it may be out of date. */
export interface IPlace {
  /** Path for the contents manager, or null: the file is gone, outside Lab's folder, or there is none. */
  path: string | null;
  /** Why `path` is null, in a sentence for a person; else null. */
  closed: string | null;
  cell: string | null;
  /** 0-based index of the cell when it was indexed. */
  index: number | null;
  /** 1-based line of a text file, or null. */
  line: number | null;
  /** First line of the memory's own text, by which a moved cell is found again. */
  begins: string;
  changed: boolean;
  pinned: boolean;
  lang: string;
  /** The headings above a hit, outermost first, without its title: `Prices > Cleaning`, or ''. */
  context: string;
  run?: IRun;
  /** How long the last runs of its cell took that ended well, the newest first. */
  seconds?: number[];
}

export interface IVersion {
  /** 1 is the oldest. */
  version: number;
  /** The last run: ISO, how it ended, and the name of its error. */
  when: string;
  outcome: IRun['outcome'];
  error: string;
  /** Of the last runs, the newest first. */
  durations: number[];
  /** What it changed in the version before; empty for the first. */
  diff: string;
  text: string;
  /** What it showed, if that is short and kept. */
  result: string;
}

/** The newest first; or why there are none. */
export interface IVersions {
  versions: IVersion[];
  notice: string;
}

export interface IRun {
  count: number;
  /** ISO, or null where it is not known. */
  first: string | null;
  last: string;
  /** How the last run ended; `unknown` if its kernel died first. */
  outcome: 'ok' | 'error' | 'unknown';
  error: string;
  environment: string;
  packages: string;
}

/** How many of all candidates have a value, by facet. */
export type Facets = Record<'kind' | 'lang' | 'tier' | 'tag', Record<string, number>>;

/** How the server read a time that the query names. `time: false` in the next request ignores it. */
export interface ITimeRead {
  phrase: string;
  since: string | null;
  until: string | null;
}

export interface IAnswer {
  query: string;
  query_id: string;
  profile: string;
  verdict: Verdict | null;
  strength: number | null;
  query_class: QueryClass;
  time_range: [string | null, string | null] | null;
  time_read: ITimeRead | null;
  counts: { keyword: number; vector: number; fused: number };
  /** Milliseconds by stage. */
  timings: Record<string, number>;
  notices: string[];
  terms: string[];
  facets: Facets;
  hits: IHit[];
  /** Parallel to `hits`. */
  places: IPlace[];
  /** Only where the request asked with `lists: true`. */
  lists?: ILists;
}

export interface IListed {
  memory_id: string;
  title: string;
  rank: number;
  /** BM25, cosine or fused score. */
  score: number;
  begins: string;
}

export interface ILists {
  keyword: IListed[];
  vector: IListed[];
  fused: IListed[];
  /** By memory id and term: the rank that the hit would have without the term. */
  without: Record<string, Record<string, number>>;
}

/** The filters: a memory must match every facet, with any of its values. */
export interface IFilters {
  kind?: string[];
  lang?: string[];
  tier?: string[];
  tag?: string[];
  path?: string[];
  space?: string[];
  session?: string[];
}

export interface ISearch {
  query: string;
  /** Names of the list; without any, the own one. */
  stores?: string[];
  limit?: number;
  profile?: string;
  filters?: IFilters;
  /** Tags that count in favour, where the profile reads them. */
  about_tags?: string[];
  since?: string;
  as_of?: string;
  /** The last word may be unfinished. */
  prefix?: boolean;
  /** False ignores a time in the query's words. */
  time?: boolean;
  lists?: boolean;
  log?: boolean;
}

/** A text, and the contents path of the notebook that it is in: cells of others that are like it are asked for. */
export interface IRelatedTo extends Within {
  text: string;
  path?: string;
}

/** The part of a request that limits and filters memories. */
export type Within = Pick<ISearch, 'limit' | 'filters' | 'since' | 'as_of'>;

/** The same of a request that may go to several stores. */
export type Among = Within & Pick<ISearch, 'stores'>;

export interface IExplanation {
  memory_id: string;
  hit: IHit | null;
  /** The main reasons, and all of them, in sentences. */
  reasons: string[];
  details: string[];
  without: Record<string, number>;
}

export interface IItem {
  memory_id: string;
  title: string;
  text: string;
  kind: string;
  tier: string;
  lang: string;
  source: string;
  tags: string[];
  event_at: string | null;
  place: IPlace;
  /** The text below the earlier cells that it needs, if that was asked for. */
  runnable?: string;
}

export interface IFolder {
  /** Absolute path, as the store keeps it. */
  path: string;
  watched: boolean;
  files: number;
  memories: number;
  /** The number of files changed, new or gone since they were indexed; null where nobody has counted them. */
  changed: number | null;
  indexed_at: string | null;
  exists: boolean;
}

export interface IJob {
  job_id: string;
  /** Absolute path of what is indexed; '' where the model is changed. */
  path: string;
  model: string;
  state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';
  /** Files; of a model its bytes, then vectors. */
  done: number;
  total: number | null;
  /** One sentence once the job has ended; while a model is changed, the step. */
  summary: string;
  /** Path and reason. */
  failed: [string, string][];
  skipped: [string, string][];
}

export interface IModel {
  name: string;
  title: string;
  active: boolean;
  dimensions: number | null;
  state: string;
  bytes: number | null;
  licence: string;
  languages: string;
  /** Bytes to fetch before it can be used, with those of the packages that it needs. */
  download: number;
  origin: string;
  needs: string[];
  /** Why it cannot be used here, or ''. */
  problem: string;
}

export interface IStatus {
  version: string;
  /** Raised when an older front end would misunderstand the server. */
  api: number;
  store: {
    path: string;
    exists: boolean;
    memories: number;
    files: number;
    bytes: number;
    read_only: boolean;
  };
  /** The names of those that can be asked, the own one among them. */
  stores: string[];
  model: string | null;
  folders: IFolder[];
  jobs: IJob[];
  notices: string[];
  log_searches: boolean;
  history: IHistory;
  /** Root of Lab's files, absolute. */
  root: string;
}

export interface IHistory {
  kernels: number;
  runs: number;
  texts: number;
  since: string | null;
}

export interface IProfile {
  name: string;
  summary: string;
  formula: string;
  terms: string[];
  default: boolean;
}

export interface IRecent {
  query_id: string;
  query: string;
  profile: string;
  at: string;
  /** `magic`, `panel`, `command line`, `python` or `mcp`. */
  origin: string;
  hits: number;
  /** The program that called, by the name that it gives itself; empty for a person's search. */
  client: string;
  /** The tool that it called, such as `memory_search`; empty for a person's search. */
  tool: string;
}

export interface IProblem {
  message: string;
  reason: string;
}
