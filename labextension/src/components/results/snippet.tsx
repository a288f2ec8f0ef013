/** The snippet of a card: prose as running text, code line by line. */

import type { ReactNode } from 'react';

import { inLines, type IPiece } from '../shared/highlights';
import { withoutMarkdown } from '../shared/plainMarkdown';
import { withMarks } from '../shared/withMarks';

/** Characters of a line that even the narrowest panel shows. */
const SURELY_SHOWN = 24;
/** Pieces up to this length are not shortened. */
const SHORT = 4;

export function Snippet(props: { pieces: IPiece[]; code: boolean; markdown: boolean }): JSX.Element {
  const { pieces, code, markdown } = props;
  if (!code) {
    return (
      <div className="jp-Memory-snippet" dir="auto">
        {marked(markdown ? withoutMarkdown(pieces) : pieces)}
      </div>
    );
  }
  return (
    <div className="jp-Memory-snippet jp-mod-code" dir="ltr">
      <code>
        {inLines(pieces).map((line, i) => (
          <Line key={i} pieces={line} isFirst={i === 0} />
        ))}
      </code>
    </div>
  );
}

/** Pieces as elements, with the highlights in `<mark>`. */
export function marked(pieces: IPiece[]): ReactNode[] {
  return pieces.map((piece, i) => {
    const text = withMarks(piece.text);
    return piece.marked ? <mark key={i}>{text}</mark> : text;
  });
}

/** A line of code, cut off at the edge of the card. An ellipsis before the first line is shown in its margin. */
function Line({ pieces: whole, isFirst }: { pieces: IPiece[]; isFirst: boolean }): JSX.Element {
  const isCut = isFirst && !whole[0]?.marked && whole[0]?.text.startsWith('…');
  const pieces = isCut ? [{ ...whole[0], text: whole[0].text.slice(1) }, ...whole.slice(1)] : whole;
  const last = pieces.reduce((at, { marked }, i) => (marked ? i : at), -1);
  const isFar = pieces.slice(0, last + 1).reduce((sum, { text }) => sum + text.length, 0) > SURELY_SHOWN;
  const ahead = isCut && <span className="jp-Memory-ahead">…</span>;
  if (!isFar) {
    return (
      <span className="jp-Memory-line">
        {ahead}
        {marked(pieces)}
        {'\n'}
      </span>
    );
  }
  return (
    <span className="jp-Memory-line">
      {/* A screen reader would read the parts of the line with gaps. */}
      <span className="jp-Memory-sr">{withMarks(whole.map(({ text }) => text).join(''))}</span>
      <span className="jp-Memory-far" aria-hidden="true">
        {ahead}
        {givingWay(pieces, last)}
        {'\n'}
      </span>
    </span>
  );
}

/** The pieces of a line: CSS shortens those without highlights, first of all the last one. */
function givingWay(pieces: IPiece[], last: number): ReactNode[] {
  return pieces.map(({ text, marked }, i) => {
    const part = i > last ? 'jp-mod-rest' : text.length > SHORT ? 'jp-mod-between' : undefined;
    return marked ? (
      <mark key={i}>{withMarks(text)}</mark>
    ) : (
      <span key={i} className={part}>
        {withMarks(text)}
      </span>
    );
  });
}
