/** A snippet cut at its highlights: the server counts code points, a JavaScript string UTF-16 units. */

export interface IPiece {
  text: string;
  marked: boolean;
}

/** The pieces of `text` in order; together they are the text. Ranges may touch, overlap or reach too far. */
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

/** Pieces of several lines, line by line, without the breaks between them. */
export function inLines(told: IPiece[]): IPiece[][] {
  const lines: IPiece[][] = [[]];
  for (const { text, marked } of told) {
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

/** Prose without the marks of Markdown that a line of it can do without: of headings, and of what is bold. */
export function unmarked(text: string): string {
  return text.replace(/(^|\s)#{1,6}\s+/g, '$1').replace(/\*\*/g, '');
}

/** What a text begins with and says after it. */
export interface IOpening {
  /** The title as the text says it, with its highlights. */
  title: IPiece[];
  rest: IPiece[];
}

/** A text that begins with its own title, cut behind that; null where it begins otherwise or says nothing more. */
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
