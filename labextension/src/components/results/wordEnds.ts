/** Cuts titles and lines of code at the end of a word: the ellipsis of CSS alone may stand in the middle of one. */

import { type RefObject, useEffect, useLayoutEffect, useState } from 'react';

import { SURELY_SHOWN } from './snippet';

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
