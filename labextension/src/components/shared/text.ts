/** Texts of memories as a person reads them: highlighted, without Markdown, and with what nobody sees made visible. */

export interface IPiece {
  text: string;
  marked: boolean;
}

/** The pieces of a text in order. Ranges may touch, overlap or exceed the text. */
export function pieces(text: string, ranges: readonly (readonly [number, number])[]): IPiece[] {
  const points = [...text];
  const found: IPiece[] = [];
  let at = 0;
  for (const [start, end] of merged(ranges, points.length)) {
    push(found, points.slice(at, start), false);
    push(found, points.slice(start, end), true);
    at = end;
  }
  push(found, points.slice(at), false);
  return found;
}

export function inLines(pieces: IPiece[]): IPiece[][] {
  const lines: IPiece[][] = [[]];
  for (const { text, marked } of pieces) {
    text.split('\n').forEach((part, i) => {
      if (i > 0) {
        lines.push([]);
      }
      if (part) {
        lines[lines.length - 1].push({ text: part, marked });
      }
    });
  }
  return lines;
}

export interface IOpening {
  title: IPiece[];
  rest: IPiece[];
}

/** Split a text that begins with its own title; null if it does not, or has nothing more. */
export function opening(text: string, ranges: readonly (readonly [number, number])[], title: string): IOpening | null {
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

function push(found: IPiece[], points: string[], marked: boolean): void {
  if (points.length) {
    found.push({ text: points.join(''), marked });
  }
}

function merged(ranges: readonly (readonly [number, number])[], length: number): [number, number][] {
  const sorted = ranges
    .map(([start, end]): [number, number] => [Math.max(0, start), Math.min(length, end)])
    .filter(([start, end]) => start < end)
    .sort((a, b) => a[0] - b[0]);
  const apart: [number, number][] = [];
  for (const [start, end] of sorted) {
    const last = apart[apart.length - 1];
    if (last && start <= last[1]) {
      last[1] = Math.max(last[1], end);
    } else {
      apart.push([start, end]);
    }
  }
  return apart;
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

export function withoutMarkdown(pieces: readonly IPiece[]): IPiece[] {
  const gone = marksIn(pieces.map(({ text }) => text).join(''));
  let at = 0;
  return pieces
    .map(({ text, marked }) => {
      const start = at;
      at += text.length;
      return { text: text.replace(/[^]/g, (unit, i: number) => (gone.has(start + i) ? '' : unit)), marked };
    })
    .filter(({ text }) => text);
}

function marksIn(text: string): Set<number> {
  const places = new Set<number>();
  for (const pattern of MARKS) {
    for (const { indices } of text.matchAll(pattern)) {
      for (const [start, end] of indices!.slice(1)) {
        for (let at = start; at < end; at++) {
          places.add(at);
        }
      }
    }
  }
  return places;
}

/** C0 controls except for tabs and line breaks, DEL, C1 controls, and what changes the direction of writing. */
const UNSEEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Where Unicode's pictures of the C0 controls begin, such as ␛ for ESC. */
const PICTURES = 0x2400;

/** A text of a memory as a person may see it: the same marks as in a notebook and a terminal. Do not store or insert it. */
export function withMarks(text: string): string {
  return text.replace(UNSEEN, character => {
    const code = character.charCodeAt(0);
    if (code === 0x7f) {
      return '␡';
    }
    return code < 0x20
      ? String.fromCharCode(PICTURES + code)
      : `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
  });
}
