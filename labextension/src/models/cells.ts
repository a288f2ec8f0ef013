/** A memory as a cell of a notebook: a code cell, a Markdown cell, or fenced code in Markdown. */

import type { ICell } from '@jupyterlab/nbformat';

import type { IItem } from '../api/types';
import { type IQuestion, within } from './answers';
import { typedFilters, withValues } from './filters';

const PROSE = /^(|markdown|md|text|txt|plain|rst|restructuredtext|html|latex|org)$/i;

/** The indexer keeps a cell's outputs below its source. */
export const OUTPUTS = '\n\nOut:\n';

/** The text without the outputs that were kept with it. */
export function sourceOf(item: IItem): string {
  const cut = isProse(item.lang) ? -1 : item.text.indexOf(OUTPUTS);
  return cut < 0 ? item.text : item.text.slice(0, cut);
}

/** What the server says of code with what it needs, in the comments above all of it. */
export function noticesOf(item: IItem): string {
  const [first] = (item.runnable ?? '').split('\n\n', 1);
  const isSaid = item.runnable !== sourceOf(item) && first.split('\n').every(line => line.startsWith('# '));
  return isSaid ? first.replace(/^# /gm, '').replace(/\n/g, ' ') : '';
}

export function firstLine(source: string): string {
  return source.trimStart().split('\n', 1)[0].trim();
}

export function isProse(language: string): boolean {
  return PROSE.test(language);
}

/** Whether a kernel runs a language; true if the kernel is not known. */
export function supportsLanguage(kernel: string, language: string): boolean {
  return !kernel || normalized(kernel) === normalized(language);
}

export function codeCell(source: string): ICell {
  return { cell_type: 'code', source, metadata: {}, outputs: [], execution_count: null };
}

export function markdownCell(source: string): ICell {
  return { cell_type: 'markdown', source, metadata: {} };
}

/** Code in Markdown, in a fence that is longer than any within the code. */
export function fenced(source: string, language: string): string {
  const longest = Math.max(2, ...[...source.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${source.replace(/\n$/, '')}\n${fence}`;
}

/**
 * A question as `%memsearch` reads it, to the same hits: all that narrows it are options before the words. A comma
 * separates the tags of an option, so tags that hold one are filters among the words, unless a tag is typed there: any
 * of those would do. Then, and where a tag holds quotes too, the hits are not quite the same.
 */
export function asTyped(question: IQuestion): string {
  const { query, stores, aboutTags, profile, useTime } = question;
  const { filters = {}, since, as_of, limit } = within(question);
  const isTyped = typedFilters(query).some(filter => filter.startsWith('tag:'));
  const isAmong = !isTyped && filters.tag?.some(tag => tag.includes(',')) && !filters.tag.join('').includes('"');
  const words = [...(isAmong ? filters.tag!.map(tag => `tag:"${tag}"`) : []), query.trim()].join(' ');
  const more = { since: [since], 'as-of': [as_of], 'about-tag': aboutTags, profile: [profile], limit: [`${limit}`] };
  const all = { in: stores, ...(isAmong ? withValues(filters, 'tag', []) : filters), ...more };
  const options = Object.entries(all).flatMap(([name, values]) =>
    values.flatMap(value => (value ? `--${name} ${quoted(value)}` : []))
  );
  // What begins with a dash among the words is a word there.
  return [...options, ...(useTime ? [] : ['--ignore-time']), ...(/(^|\s)-/.test(words) ? ['--'] : []), words].join(' ');
}

/** A line of a notebook that asks the same question; it loads the extension too unless the notebook already does. */
export function magicLine(query: string, isLoaded: boolean): string {
  // Without the space, IPython would take a question mark as a request for help.
  const asked = query
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/\s*(\?{1,2})$/, ' $1');
  return `${isLoaded ? '' : '%load_ext jupyter_memory\n'}%memsearch ${asked}`;
}

function quoted(value: string): string {
  return /[\s"']/.test(value) ? (value.includes('"') ? `'${value}'` : `"${value}"`) : value;
}

function normalized(language: string): string {
  return language.toLowerCase().replace(/^i(?=python$)/, '');
}
