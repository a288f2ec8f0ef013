/** Cuts titles and lines of code at the end of a word: the ellipsis of CSS alone may stand in the middle of one. */

import { type RefObject, useEffect, useLayoutEffect, useState } from 'react';

import { SURELY_SHOWN } from './snippet';

/** A word that may stand before an ellipsis, not `the` or a bracket. */
const WORD = /[\p{L}\p{N}_]{4,}(?![\p{L}\p{N}_])/gu;

/** Cut what is in a list now, and whenever its width changes. Returns how many columns of code a row surely shows. */
export function useWordEnds(list: RefObject<HTMLElement>, isOn: boolean, ...content: unknown[]): number {
  const [columns, setColumns] = useState(SURELY_SHOWN);
  useLayoutEffect(() => {
    if (isOn && list.current) {
      cutAtWords(list.current);
    }
  }, [isOn, columns, ...content]);
  useEffect(() => {
    const { current } = list;
    if (!isOn || !current) {
      return undefined;
    }
    const observer = new ResizeObserver(() => {
      setColumns(Math.max(SURELY_SHOWN, Math.floor(current.clientWidth / 7) - 5));
      cutAtWords(current);
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, [isOn]);
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
  const range = document.createRange();
  range.setStart(line, 0);
  const texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  let end: number | null = null;
  while (texts.nextNode()) {
    const text = texts.currentNode as Text;
    for (const { index, 0: word } of text.data.matchAll(WORD)) {
      range.setEnd(text, index + word.length);
      const reached = range.getBoundingClientRect().width;
      if (reached > width) {
        return end;
      }
      end = reached > width / 3 ? reached : null;
    }
  }
  return end;
}
