/** The excerpt of a long text that an unfolded card shows, around the snippet and with the matched words marked. */

import type { IHit } from '../../api/types';
import { type IPiece, pieces } from '../shared/text';

export const MAX_SHOWN = 20_000;

/** Characters before the snippet, if the text's beginning is too far away; so few more are never omitted. */
const MARGIN = 2_000;

/** Scripts that do not separate words by spaces. */
const UNSPACED_SCRIPTS =
  '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}';

export interface IExcerpt {
  text: string;
  at: number | null;
  before: number;
  behind: number;
}

export function excerpt(whole: string, snippet: string): IExcerpt {
  const beginning = snippet.replace(/^…/, '').split('…', 1)[0];
  const words = beginning.split(/\s+/).filter(word => word);
  // White space of the snippet may have been folded.
  const pattern = new RegExp(words.slice(0, 12).map(literal).join('\\s+'), 'u');
  const at = words.length ? (pattern.exec(whole)?.index ?? null) : null;
  const start =
    whole.length > MAX_SHOWN + MARGIN && at !== null && at > MAX_SHOWN - MARGIN ? lineStart(whole, at - MARGIN) : 0;
  const end = whole.length - start > MAX_SHOWN + MARGIN ? characterStart(whole, start + MAX_SHOWN) : whole.length;
  return {
    text: whole.slice(start, end),
    at: at !== null && at < end ? at - start : null,
    before: start,
    behind: whole.length - end
  };
}

/** A pattern for the words that hits matched, or null if there are none. */
export function matchedWords(hits: readonly IHit[]): RegExp | null {
  const marked = hits.flatMap(hit => pieces(hit.snippet, hit.highlights).filter(piece => piece.marked));
  const words = [...new Set(marked.map(piece => piece.text.trim().toLowerCase()))].filter(word => word);
  // Of two words with the same beginning, the longer one is tried first.
  const parts = words.sort((a, b) => b.length - a.length).map(wordAlone);
  return parts.length ? new RegExp(parts.join('|'), 'giu') : null;
}

export function markWords(text: string, words: RegExp | null): IPiece[] {
  const found: IPiece[] = [];
  let at = 0;
  for (const { index, 0: word } of words ? text.matchAll(words) : []) {
    found.push({ text: text.slice(at, index), marked: false }, { text: word, marked: true });
    at = index + word.length;
  }
  found.push({ text: text.slice(at), marked: false });
  return found.filter(piece => piece.text);
}

/** The start of the line at a place, or the place itself if that is too far away. */
function lineStart(text: string, place: number): number {
  const start = text.lastIndexOf('\n', place) + 1;
  return place - start < MARGIN ? start : characterStart(text, place);
}

/** The start of the character at a place: not the middle of a surrogate pair. */
function characterStart(text: string, place: number): number {
  return /^[\uDC00-\uDFFF]/.test(text.slice(place, place + 1)) ? place - 1 : place;
}

function wordAlone(word: string): string {
  const letter = '[\\p{L}\\p{M}\\p{N}]';
  const parted = new RegExp(`^(?=${letter})[^${UNSPACED_SCRIPTS}]`, 'u');
  const [first, last] = [word, [...word].reverse().join('')].map(one => parted.test(one));
  return `${first ? `(?<!${letter})` : ''}${word.split(/\s+/).map(literal).join('\\s+')}${last ? `(?!${letter})` : ''}`;
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
