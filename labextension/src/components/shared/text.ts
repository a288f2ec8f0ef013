/** Texts of memories as a person reads them: highlighted, without Markdown, and with what nobody sees made visible. */

import type { IToken } from '../../tokens';

export interface IPiece {
  text: string;
  marked: boolean;
  /** The CSS class that colours it. */
  look?: string;
}

type Ranges = readonly (readonly [number, number])[];

/** The pieces of a text in order; ranges are in code points, as the server counts, and may overlap or exceed the text. */
export function pieces(text: string, ranges: Ranges): IPiece[] {
  const found: IPiece[] = [];
  [...text].forEach((point, i) => {
    const marked = ranges.some(([start, end]) => start <= i && i < end);
    const last = found.at(-1);
    if (last?.marked === marked) {
      last.text += point;
    } else {
      found.push({ text: point, marked });
    }
  });
  return found;
}

/** Pieces cut where the tokens of their text are, and coloured as these are. */
export function coloured(pieces: IPiece[], tokens: readonly IToken[]): IPiece[] {
  let at = 0;
  return pieces.flatMap(({ text, marked }) => {
    const start = at;
    at += text.length;
    const ends = tokens.filter(({ from, to }) => from < at && to > start).flatMap(({ from, to }) => [from, to]);
    const cuts = [...new Set([start, ...ends.filter(end => start < end && end < at), at])];
    return cuts.slice(1).map((end, i) => {
      const look = tokens.find(({ from, to }) => from <= cuts[i] && end <= to)?.look;
      return { text: text.slice(cuts[i] - start, end - start), marked, ...(look && { look }) };
    });
  });
}

/** Pieces split into lines, without the line breaks. */
export function inLines(pieces: IPiece[]): IPiece[][] {
  const lines: IPiece[][] = [[]];
  for (const piece of pieces) {
    const [first, ...others] = piece.text.split('\n').map(text => (text ? [{ ...piece, text }] : []));
    lines[lines.length - 1].push(...first);
    lines.push(...others);
  }
  return lines;
}

/** Split a text that begins with its own title; null if it does not, or has nothing more. */
export function opening(text: string, ranges: Ranges, title: string): { title: IPiece[]; rest: IPiece[] } | null {
  const mark = /^(#{1,6}\s+)?/.exec(text)![0];
  const rest = text.slice(mark.length + title.length);
  if (!title || !text.startsWith(title, mark.length) || !/^\s+\S/.test(rest)) {
    return null;
  }
  const from = (start: number): [number, number][] => ranges.map(([a, b]) => [a - start, b - start]);
  const blank = rest.length - rest.trimStart().length;
  return {
    title: pieces(title, from([...mark].length)),
    rest: pieces(rest.trimStart(), from([...mark].length + [...title].length + blank))
  };
}

/** What goes, as the groups of a pattern; what lies between two groups stays. */
const MARKS: readonly RegExp[] = [
  String.raw`(?:^|\s)(#{1,6}\s+)`,
  String.raw`(\*\*)`,
  String.raw`(?<![\w*])(\*)(?=[^\s*])[^*\n]{0,200}[^\s*](\*)(?![\w*])`,
  String.raw`(?<![\w_])(_)(?=[^\s_])[^_\n]{0,200}[^\s_](_)(?![\w_])`,
  '(?<!`)(`{1,2})(?=[^`\\s])[^`\\n]{1,200}(`{1,2})(?!`)',
  String.raw`(!?\[)[^\][\n]{1,200}(\]\([^()\s]{0,500}(?:\)|…?$))`,
  // A link that the end of a snippet cuts.
  String.raw`(\[)[^\][\n]{0,200}…$`
].map(source => new RegExp(source, 'dgu'));

/** Prose without Markdown's marks; what is highlighted stays so. */
export function withoutMarkdown(pieces: readonly IPiece[]): IPiece[] {
  const whole = pieces.map(({ text }) => text).join('');
  const matches = MARKS.flatMap(pattern => [...whole.matchAll(pattern)]);
  const gone = matches.flatMap(({ indices }) => indices!.slice(1));
  let at = 0;
  const left = pieces.map(({ text, marked }) => {
    const units = text.split('').filter((_, i) => !gone.some(([start, end]) => start <= at + i && at + i < end));
    at += text.length;
    return { text: units.join(''), marked };
  });
  return left.filter(({ text }) => text);
}

/** C0 controls except for tabs and line breaks, DEL, C1 controls, and what changes the direction of writing. */
const UNSEEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Where Unicode's pictures of the C0 controls begin, such as ␛ for ESC. */
const PICTURES = 0x2400;

/** A text of a memory as a person may see it: the same marks as in a notebook and a terminal. Do not store or insert it. */
export function withMarks(text: string): string {
  return text.replace(UNSEEN, character => {
    const code = character.charCodeAt(0);
    if (code < 0x20 || code === 0x7f) {
      return code === 0x7f ? '␡' : String.fromCharCode(PICTURES + code);
    }
    return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
  });
}
