/** Names for a person: of a hit and its place, of facets and their values, of query classes and terms of a profile. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IFilters, IHit, IPlace, IRun, QueryClass, Verdict } from '../../api/types';
import { isProse } from '../../models/cells';
import type { Facet } from '../../models/filters';
import type { IPlacedHit } from '../../models/hits';
import { count, day, figure, moment } from './format';
import { withMarks } from './text';

export function kindTexts(kind: string, trans: TranslationBundle): [label: string, one: string] {
  const kinds: Record<string, [string, string]> = {
    cell: [trans.__('Cells'), trans.__('A cell of a notebook')],
    note: [trans.__('Notes'), trans.__('A note')],
    file: [trans.__('Files'), trans.__('A file')],
    history: [trans.__('History'), trans.__('A cell that you ran')]
  };
  return Object.hasOwn(kinds, kind) ? kinds[kind] : [kind, kind];
}

export function outcomeName({ outcome, error }: Pick<IRun, 'outcome' | 'error'>, trans: TranslationBundle): string {
  return {
    ok: trans.__('ok'),
    error: withMarks(error) || trans.__('error'),
    unknown: trans.__('no outcome')
  }[outcome];
}

export function runTitle(run: IRun, trans: TranslationBundle): string {
  const ended = {
    ok: trans.__('The last run ended without an error.'),
    error: trans.__('The last run ended with %1.', outcomeName(run, trans)),
    unknown: trans.__('How the last run ended is not known: its kernel died first, or it is still running.')
  }[run.outcome];
  const first = run.first === null ? '' : moment(run.first);
  const lines = [
    trans.__('Last run: %1', moment(run.last)),
    run.count > 1 && first && trans.__('%1 runs, the first: %2', count(run.count), first),
    ended,
    run.environment && trans.__('Environment: %1', withMarks(run.environment)),
    run.packages && trans.__('Ran with: %1', withMarks(run.packages))
  ];
  return lines.filter(line => line).join('\n');
}

export function took(seconds: readonly number[], trans: TranslationBundle): string {
  const all = seconds.map(one => trans.__('%1 s', one < 0.05 ? '< 0.1' : figure(one, 1)));
  return trans.__('Last runs: %1', all.join(', '));
}

/** How many runs the store has, and since when. */
export function kept(runs: number, since: string | null, trans: TranslationBundle): string {
  return since === null
    ? trans.__('Nothing is in the store yet.')
    : trans._n('%2 run since %3.', '%2 runs since %3.', runs, count(runs), day(since));
}

function tierName(tier: string, trans: TranslationBundle): string {
  const known: Record<string, string> = {
    core: trans.__('pinned'),
    file: trans.__('from files'),
    mcp: trans.__('by an agent'),
    note: trans.__('notes')
  };
  return Object.hasOwn(known, tier) ? known[tier] : tier;
}

export function valueName(facet: keyof IFilters, value: string, trans: TranslationBundle): string {
  return facet === 'tier' ? tierName(value, trans) : withMarks(facet === 'kind' ? kindTexts(value, trans)[0] : value);
}

export function facetName(facet: Facet, trans: TranslationBundle): string {
  return { kind: trans.__('Kind'), lang: trans.__('Language'), tier: trans.__('Tier'), tag: trans.__('Tag') }[facet];
}

export function verdictTexts(verdict: Verdict, trans: TranslationBundle): [label: string, meaning: string] {
  return {
    strong: [trans.__('found'), trans.__('The first results very likely answer this')],
    weak: [trans.__('perhaps'), trans.__('The results may answer this')],
    none: [trans.__('not found'), trans.__('Nothing here seems to answer this. These are the closest results.')]
  }[verdict] as [string, string];
}

/** The class of a query, and what it says: its length, and nothing about the rank. */
export function classTexts(kind: QueryClass, trans: TranslationBundle): [label: string, meaning: string] {
  const [label, length] = {
    keyword: [trans.__('keyword'), trans.__('One to three words.')],
    balanced: [trans.__('balanced'), trans.__('Four to six words.')],
    semantic: [trans.__('semantic'), trans.__('Seven words or more.')]
  }[kind];
  return [label, `${length} ${trans.__('This describes the question; it does not change the ranking.')}`];
}

/** The label of a term, and what its raw value means. A term of a user's own profile keeps its name. */
export function termTexts(term: string, trans: TranslationBundle): [label: string, meaning?: string] {
  const terms: Record<string, [string, string?]> = {
    keyword: [trans.__('your words'), trans.__('BM25 of the words that the query and the text share')],
    vector: [trans.__('close in meaning'), trans.__('Cosine of the vectors of the query and of the text')],
    semantic_margin: [trans.__('its meaning'), trans.__('How far its meaning stands out from that of the others')],
    max_sim: [trans.__('like words'), trans.__('How close its words are to the words of the query')],
    neighbour: [trans.__('its neighbours'), trans.__('How well its neighbours answer the query')],
    session: [trans.__('its session'), trans.__('How well the rest of its session answers the query')],
    question_penalty: [trans.__('question penalty'), trans.__('-1 for a question if the query is a question, too')],
    length_penalty: [
      trans.__('length penalty'),
      trans.__('0 for a usual length, less for a few words or a very long text')
    ],
    own_words: [trans.__('own words')],
    best_passage: [trans.__('best passage')],
    time: [trans.__('time'), trans.__('Whether it is from the time that the query names, and how certain that is')],
    near_time: [trans.__('near the time'), trans.__('How close it is to the moment that the query names')],
    title: [trans.__('title'), trans.__('How many of the query’s words are in its title')],
    title_match: [trans.__('title match')],
    defines: [
      trans.__('definition'),
      trans.__('1 if it defines what the query names, less for a variable, a method or in a sentence')
    ],
    file_stem: [trans.__('file name'), trans.__('How well the names of its file and folder answer the query')],
    defined_names: [
      trans.__('defined names'),
      trans.__('How much better than usual the best name that it defines answers the query')
    ],
    aside: [
      trans.__('aside'),
      trans.__('-1 for tests, earlier versions, runs and the like, -2 for the opposite of what is asked')
    ],
    tier: [trans.__('tier'), trans.__('1 for what is pinned, 2 for files, 3 for notes')],
    recency: [trans.__('recency'), trans.__('How fresh it is: 1 is now')],
    semantic: [trans.__('TF-IDF'), trans.__('TF-IDF of the shared words')],
    severity: [trans.__('severity'), trans.__('1 for critical, 0.7 for warning, 0.4 for suggestion')],
    temporal: [trans.__('age or validity'), trans.__('Its age, or how long it is still valid')],
    tags: [trans.__('tags'), trans.__('How many of the query’s words are among its tags')],
    domain: [trans.__('domain'), trans.__('Whether it belongs to the query’s field')],
    history: [trans.__('history'), trans.__('1 for code that was run in a session')],
    quality: [trans.__('quality'), trans.__('Its quality, whatever the query is')]
  };
  return Object.hasOwn(terms, term) ? terms[term] : [term];
}

export function termName(term: string, trans: TranslationBundle): string {
  return termTexts(term, trans)[0];
}

const PAGE = /^(page|slide) (\d+)$/;

/** The names of a hit. The file appears only once, below the title, which is the nearest heading. */
export function hitNames(hit: IHit, place: IPlace, trans: TranslationBundle) {
  const file = place.path ?? hit.source;
  const base = basename(file);
  const headings = place.context ? place.context.split(' > ') : [];
  const isFile = base !== '' && (hit.title === base || hit.title.endsWith(`/${base}`));
  // The title of a run is a line of code, in which a slash parts nothing.
  const nearest = isFile ? headings.pop() : base && !place.run ? splitTitle(hit.title).name : hit.title;
  return {
    title: withMarks(nearest || (isFile ? base : hit.title) || firstLine(place.begins) || base || trans.__('Untitled')),
    file: withMarks(shortened(file)),
    context: withMarks(headings.join(' › ')),
    at: placeLabel(hit, place, trans)
  };
}

/** What the hits of one section of a notebook share; null where a cell stands below no heading. */
export function sectionOf({ kind, source, title }: IHit, { context }: IPlace): string | null {
  const heading = splitTitle(title).file && `${context} > ${title}`;
  return kind === 'cell' && source.endsWith('.ipynb') && heading ? `${source}\n${heading}` : null;
}

/** The indexer titles a cell `notebook.ipynb – heading`, and a document with its path. */
export function splitTitle(title: string): { name: string; file: string } {
  const [, notebook, heading] = /^(.+?\.ipynb) – (.+)$/s.exec(title) ?? [];
  if (heading) {
    return { name: heading, file: notebook };
  }
  const [, folder, base] = /^(\S.*)\/([^/\s]+\.\w+)$/s.exec(title) ?? [];
  return base ? { name: base, file: folder } : { name: title, file: '' };
}

/** Whether a snippet is code, to be shown in a monospaced font: so are several lines, unless they are of a page. */
export function isCode(hit: IHit, place: IPlace): boolean {
  const isPage = PAGE.test(hit.location);
  return hit.kind === 'history' || (!isPage && (hit.snippet.includes('\n') || !isProse(place.lang)));
}

/** Whether the server may know what code needs to run: it reads Python, of cells and of runs. */
export function canRun({ hit, place }: IPlacedHit): boolean {
  return ['cell', 'history'].includes(hit.kind) && place.lang === 'python';
}

/** Whether a text is Markdown: of a Markdown cell or file, or a note. */
export function isMarkdown(hit: IHit, place: IPlace): boolean {
  return place.lang === 'markdown' || (hit.kind === 'note' && isProse(place.lang));
}

export function basename(path: string): string {
  return path.split(/[\\/]/).pop() ?? '';
}

/** The last two parts of a path; the tooltip has the whole one. */
function shortened(path: string): string {
  const parts = path.split('/').filter(part => part);
  return parts.length > 2 ? `…/${parts.slice(-2).join('/')}` : parts.join('/');
}

function placeLabel(hit: IHit, place: IPlace, trans: TranslationBundle): string {
  if (place.index !== null) {
    return trans.__('cell %1', place.index + 1);
  }
  const [, part, number] = PAGE.exec(hit.location) ?? [];
  if (number) {
    return part === 'page' ? trans.__('page %1', number) : trans.__('slide %1', number);
  }
  return place.line !== null && place.line > 1 ? trans.__('line %1', place.line) : '';
}

function firstLine(text: string): string {
  return text.replace(/^[#\s]+/, '').split('\n', 1)[0];
}
