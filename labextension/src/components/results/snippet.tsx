/** What a card shows of its memory: the snippet, prose as running text and code line by line, and the pictures. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { type MouseEvent, type ReactNode, useState } from 'react';

import type { IPlacedHit } from '../../models/hits';
import { hitNames } from '../shared/labels';
import { inLines, type IPiece, withMarks, withoutMarkdown } from '../shared/text';

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
        {pieces.map(({ text, marked }, i) => {
          // CSS shortens the pieces without highlights, first of all the last one.
          const part = i > last ? 'jp-mod-rest' : text.length > SHORT ? 'jp-mod-between' : undefined;
          return marked ? (
            <mark key={i}>{withMarks(text)}</mark>
          ) : (
            <span key={i} className={part}>
              {withMarks(text)}
            </span>
          );
        })}
        {'\n'}
      </span>
    </span>
  );
}

interface IPictureProps {
  source: string;
  label: string;
  tooltip?: string;
  onClick?(): void;
}

/** A picture, fetched when it comes into view; nothing once the store no longer has it. */
export function Picture({ source, label, tooltip, onClick }: IPictureProps): JSX.Element | null {
  const [lost, setLost] = useState<string | null>(null);
  // A card may be dragged, but not its picture alone; and the second click of a double click opens the card's file.
  const click = (event: MouseEvent): void => (event.detail === 1 ? onClick?.() : undefined);
  return lost === source ? null : (
    <img
      className={onClick ? 'jp-Memory-picture jp-mod-small' : 'jp-Memory-picture'}
      src={source}
      alt={label}
      title={tooltip}
      loading="lazy"
      draggable={false}
      onClick={click}
      onError={() => setLost(source)}
    />
  );
}

interface IPicturesProps {
  found: IPlacedHit;
  pictureOf(id: string, place: number): string;
  trans: TranslationBundle;
}

export function Pictures({ found, pictureOf, trans }: IPicturesProps): JSX.Element | null {
  const { memory_id, thumbnails } = found.hit;
  const { title } = hitNames(found.hit, found.place, trans);
  return thumbnails === 0 ? null : (
    <div className="jp-Memory-pictures">
      {Array.from({ length: thumbnails }, (_, place) => (
        <Picture
          key={place}
          source={pictureOf(memory_id, place)}
          label={pictureLabel(place, thumbnails, title, trans)}
        />
      ))}
    </div>
  );
}

/** What a screen reader says of a picture: nobody has described it but the title of its cell. */
export function pictureLabel(place: number, all: number, title: string, trans: TranslationBundle): string {
  return all === 1 ? trans.__('Picture: %1', title) : trans.__('Picture %1 of %2: %3', place + 1, all, title);
}
