/** What a card shows of a text: prose as it runs, code line by line. */

import type { ReactNode } from 'react';

import { inLines, type IPiece, unmarked } from '../shared/highlights';

/** So many characters of a line are seen in the narrowest of panels. */
const SURELY_SHOWN = 24;
/** So few are not worth cutting. */
const SHORT = 4;

export function Snippet(props: { told: IPiece[]; code: boolean; markdown: boolean }): JSX.Element {
  const { told, code, markdown } = props;
  if (!code) {
    return (
      <div className="jp-Memory-snippet" dir="auto">
        {marked(told, markdown ? unmarked : undefined)}
      </div>
    );
  }
  return (
    <div className="jp-Memory-snippet jp-mod-code" dir="ltr">
      <code>
        {inLines(told).map((line, i) => (
          <Line key={i} told={line} isFirst={i === 0} />
        ))}
      </code>
    </div>
  );
}

/** Pieces with what is marked of them marked. */
export function marked(told: IPiece[], plain = (text: string) => text): ReactNode[] {
  return told.map((piece, i) => (piece.marked ? <mark key={i}>{piece.text}</mark> : plain(piece.text)));
}

/** A line that ends where the card does; what says that there is more before the first one stands left of it. */
function Line({ told, isFirst }: { told: IPiece[]; isFirst: boolean }): JSX.Element {
  const isCut = isFirst && !told[0]?.marked && told[0]?.text.startsWith('…');
  const pieces = isCut ? [{ ...told[0], text: told[0].text.slice(1) }, ...told.slice(1)] : told;
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
      {/* What is laid out in parts would be heard with gaps. */}
      <span className="jp-Memory-sr">{told.map(({ text }) => text).join('')}</span>
      <span className="jp-Memory-far" aria-hidden="true">
        {ahead}
        {givingWay(pieces, last)}
        {'\n'}
      </span>
    </span>
  );
}

/** Pieces of a line of which what is not marked gives way, first of all what stands behind the last mark. */
function givingWay(told: IPiece[], last: number): ReactNode[] {
  return told.map(({ text, marked }, i) => {
    const part = i > last ? 'jp-mod-rest' : text.length > SHORT ? 'jp-mod-between' : undefined;
    return marked ? (
      <mark key={i}>{text}</mark>
    ) : (
      <span key={i} className={part}>
        {text}
      </span>
    );
  });
}
