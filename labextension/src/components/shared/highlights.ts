/** Splits a snippet at its highlights: the server counts code points, JavaScript UTF-16 units. */

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

/** Pieces split into lines, without the line breaks. */
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

/** A text split after its title. */
export interface IOpening {
  /** The title with its highlights. */
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
