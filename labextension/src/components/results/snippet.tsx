/** What a card shows of its memory: the snippet, prose as running text and code line by line, and the pictures. Lines end with a word. */

import type { TranslationBundle } from '@jupyterlab/translation';
import {
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useReducer,
  useRef,
  useState
} from 'react';

import type { IPlacedHit } from '../../models/hits';
import type { IActions, IToken } from '../../tokens';
import { hitNames, isCode, isMarkdown } from '../shared/labels';
import { coloured, inLines, type IPiece, withMarks, withoutMarkdown } from '../shared/text';

/** Characters of a line that even the narrowest panel shows. */
const SURELY_SHOWN = 24;
/** The line above the outputs of a cell. */
const OUTPUTS = 'Out:';
/** Lines of code in a row of the dense list. */
const DENSE_LINES = 2;

export interface ISnippetProps {
  found: IPlacedHit;
  pieces: IPiece[];
  /** How many columns of code a line surely shows. */
  columns: number;
  dense: boolean;
  highlight: IActions['highlight'];
}

export function Snippet({ found, pieces, columns, dense, highlight }: ISnippetProps): JSX.Element {
  const { hit, place } = found;
  const code = isCode(hit, place);
  const tokens = useTokens(highlight, code ? textOf(pieces) : null, place.lang);
  if (!code) {
    const prose = isMarkdown(hit, place) ? withoutMarkdown(pieces) : pieces;
    return (
      <div className="jp-Memory-snippet" dir="auto">
        {marked(dense ? upTo(prose, DENSE_LINES * columns) : prose)}
      </div>
    );
  }
  const lines = inLines(coloured(pieces, tokens));
  return (
    <div className="jp-Memory-snippet jp-mod-code" dir="ltr">
      <code>
        {telling(inLines(pieces), columns, dense ? DENSE_LINES : Infinity).map(({ line, from, isCut }) => (
          <span key={line} className="jp-Memory-line">
            {isCut && '…'}
            {marked(within(lines[line], from))}
            {'\n'}
          </span>
        ))}
      </code>
    </div>
  );
}

/** Tokens by language and code: what was coloured once is drawn in colour at once. */
const known = new Map<string, readonly IToken[]>();
const MANY = 500;
const NONE: readonly IToken[] = [];

/** The tokens of a code, once the highlighter has them; it is shown without colours until then, in the same letters. */
export function useTokens(highlight: IActions['highlight'], text: string | null, lang: string): readonly IToken[] {
  const [, draw] = useReducer((times: number) => times + 1, 0);
  // What a cell printed is not code.
  const code = text && text.split(`\n${OUTPUTS}\n`, 1)[0];
  const key = `${lang}\n${code}`;
  useEffect(() => {
    let isGone = false;
    if (highlight && code !== null && !known.has(key)) {
      void highlight(code, lang).then(tokens => {
        if (known.size > MANY) {
          known.clear();
        }
        known.set(key, tokens);
        if (!isGone) {
          draw();
        }
      });
    }
    return () => {
      isGone = true;
    };
  }, [highlight, key]);
  return (code !== null && known.get(key)) || NONE;
}

/** Pieces as elements, with the highlights in `<mark>`. */
export function marked(pieces: IPiece[]): ReactNode[] {
  return pieces.map((piece, i) => {
    const text = withMarks(piece.text);
    const look = piece.look ?? '';
    return piece.marked ? (
      <mark key={i} className={look}>
        {text}
      </mark>
    ) : look ? (
      <span key={i} className={look}>
        {text}
      </span>
    ) : (
      text
    );
  });
}

/** Where the lines with most highlights begin, without their shared indentation and what keeps a highlight out of sight. */
export function telling(
  lines: IPiece[][],
  columns: number,
  most: number
): { line: number; from: number; isCut: boolean }[] {
  const told = lines.flatMap((line, i) => (/[^\s…]/.test(textOf(line)) && textOf(line) !== OUTPUTS ? [i] : []));
  const marks = told.map(i => lines[i].filter(({ marked }) => marked).length);
  const at = Math.min(marks.indexOf(Math.max(...marks)), Math.max(0, told.length - most));
  const shown = told.slice(at, at + most);
  const indent = Math.min(...shown.map(i => /^\s*/.exec(textOf(lines[i]))![0].length));
  return shown.map(i => {
    const first = lines[i].findIndex(({ marked }) => marked);
    const before = first < 0 ? '' : textOf(lines[i].slice(0, first));
    if (before.length - indent + (lines[i][first]?.text.length ?? 0) < columns) {
      return { line: i, from: indent, isCut: false };
    }
    return { line: i, from: wordStart(before, columns), isCut: true };
  });
}

/** Where a word begins in the last third of what would fill the room. */
function wordStart(before: string, room: number): number {
  const cut = before.length - Math.floor(room / 3);
  const words = [...before.matchAll(/(?<![\p{L}\p{N}_])[\p{L}\p{N}_]/gu)];
  return words.find(({ index }) => index >= cut)?.index ?? before.length;
}

function textOf(pieces: readonly IPiece[]): string {
  return pieces.map(({ text }) => text).join('');
}

/** Pieces up to the last word within a length, from a word on that leaves room for the first highlight. */
function upTo(all: IPiece[], length: number): IPiece[] {
  const first = all.findIndex(({ marked }) => marked);
  const before = textOf(all.slice(0, Math.max(first, 0)));
  const isFar = before.length + (all[first]?.text.length ?? 0) > length;
  const pieces = isFar && first >= 0 ? [{ text: '…', marked: false }, ...within(all, wordStart(before, length))] : all;
  const whole = textOf(pieces);
  const end = whole.slice(0, length).search(/\s+\S*$/);
  return whole.length <= length
    ? pieces
    : [...within(pieces, 0, end < 0 ? length : end), { text: ' …', marked: false }];
}

/** What of the pieces is between two places in their text. */
function within(pieces: readonly IPiece[], start: number, end = Infinity): IPiece[] {
  let at = 0;
  const cut = pieces.map(piece => {
    const text = piece.text.slice(Math.max(0, start - at), Math.max(0, end - at));
    at += piece.text.length;
    return { ...piece, text };
  });
  return cut.filter(({ text }) => text);
}

interface IPictureProps {
  picture(): Promise<string>;
  label: string;
  tooltip?: string;
  onClick?(): void;
}

/** A picture, fetched when it comes into view; nothing once the store no longer has it. */
export function Picture({ picture, label, tooltip, onClick }: IPictureProps): JSX.Element | null {
  const [source, setSource] = useState<string | null>();
  const image = useRef<HTMLImageElement>(null);
  useEffect(() => {
    const seen = new IntersectionObserver(entries => {
      if (entries.some(one => one.isIntersecting)) {
        seen.disconnect();
        picture().then(setSource, () => setSource(null));
      }
    });
    seen.observe(image.current!);
    return () => seen.disconnect();
  }, []);
  // A card may be dragged, but not its picture alone; and the second click of a double click opens the card's file.
  const click = (event: MouseEvent): void => (event.detail === 1 ? onClick?.() : undefined);
  return source === null ? null : (
    <img
      ref={image}
      className={onClick ? 'jp-Memory-picture jp-mod-small' : 'jp-Memory-picture'}
      src={source}
      alt={source ? label : ''}
      title={tooltip}
      draggable={false}
      onClick={click}
    />
  );
}

interface IPicturesProps {
  found: IPlacedHit;
  pictureOf(id: string, place: number): Promise<string>;
  trans: TranslationBundle;
}

export function Pictures({ found, pictureOf, trans }: IPicturesProps): JSX.Element | null {
  const { memory_id, thumbnails } = found.hit;
  const { title } = hitNames(found.hit, found.place, trans);
  return thumbnails === 0 ? null : (
    <div className="jp-Memory-pictures">
      {Array.from({ length: thumbnails }, (_, place) => (
        <Picture
          key={memory_id + place}
          picture={() => pictureOf(memory_id, place)}
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

/** A word that may stand before an ellipsis, not `the` or a bracket. */
const WORD = /[\p{L}\p{N}_]{4,}(?![\p{L}\p{N}_])/gu;

/** Cut what is in a list now, and whenever its width changes. Returns how many columns of code a row surely shows. */
export function useWordEnds(list: RefObject<HTMLElement>, ...content: unknown[]): number {
  const [columns, setColumns] = useState(SURELY_SHOWN);
  useLayoutEffect(() => {
    if (list.current) {
      cutAtWords(list.current);
    }
  }, [columns, ...content]);
  useEffect(() => {
    const { current } = list;
    if (!current) {
      return undefined;
    }
    let width = 0;
    const observer = new ResizeObserver(() => {
      // Each answer has another height.
      if (current.clientWidth !== width) {
        width = current.clientWidth;
        setColumns(Math.max(SURELY_SHOWN, Math.floor(width / 7) - 5));
        cutAtWords(current);
      }
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return columns;
}

/** CSS cuts a line at its `max-width`: let that be the end of a word and an ellipsis. */
function cutAtWords(list: HTMLElement): void {
  const all = [...list.querySelectorAll<HTMLElement>('.jp-Memory-name, .jp-Memory-line')];
  all.forEach(line => (line.style.maxWidth = ''));
  const long = all.filter(line => line.scrollWidth > line.clientWidth);
  const ends = long.map(wordEnd);
  long.forEach((line, i) => (line.style.maxWidth = ends[i] === null ? '' : `calc(${ends[i]! + 1}px + 1em)`));
}

/** Where the last word ends that fits before an ellipsis, in pixels; null if that is in the first third. */
function wordEnd(line: HTMLElement): number | null {
  const width = line.clientWidth - parseFloat(getComputedStyle(line).fontSize);
  const text = line.textContent!;
  // Measuring is slow: it begins about where the line is cut, if its letters are about equally wide.
  const about = (1.1 * text.length * width) / line.scrollWidth;
  const ends = [...text.matchAll(WORD)].map(({ index, 0: word }) => index + word.length);
  for (const end of ends.filter(one => one < about).reverse()) {
    const reached = widthUpTo(line, end);
    if (reached <= width) {
      return reached > width / 3 ? reached : null;
    }
  }
  return null;
}

/** How wide a line is up to a place in its text. */
function widthUpTo(line: HTMLElement, place: number): number {
  const range = document.createRange();
  range.setStart(line, 0);
  const texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  let left = place;
  while (texts.nextNode() && left > (texts.currentNode as Text).length) {
    left -= (texts.currentNode as Text).length;
  }
  range.setEnd(texts.currentNode, left);
  return range.getBoundingClientRect().width;
}
