/** Markdown as Lab renders it, with the query's words marked. */

import { useEffect, useRef } from 'react';

import type { IRendered } from '../../tokens';
import { markWords } from './excerpt';

interface IMarkdownProps {
  text: string;
  /** A pattern for the query's words, or null. */
  words: RegExp | null;
  render(text: string): Promise<IRendered>;
}

export function RenderedMarkdown({ text, words, render }: IMarkdownProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let rendered: IRendered | null = null;
    let isGone = false;
    void render(text).then(made => {
      if (isGone || !box.current) {
        made.dispose();
        return;
      }
      rendered = made;
      markIn(made.node, words);
      box.current.replaceChildren(made.node);
      made.typeset();
      scrollToMark(box.current);
    });
    return () => {
      isGone = true;
      rendered?.dispose();
    };
  }, [text, words, render]);
  return <div className="jp-Memory-rendered" ref={box} />;
}

/** A formula; it also matches text between two dollar signs, such as two prices. */
const FORMULA = /(\$\$[^$]*\$\$|\$[^$]*\$|\\\([^]*?\\\)|\\\[[^]*?\\\])/;

/** Mark the words in the texts of a node; formulas are left to the typesetter as they are. */
export function markIn(node: HTMLElement, words: RegExp | null): void {
  if (!words) {
    return;
  }
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) {
    texts.push(walker.currentNode as Text);
  }
  for (const text of texts) {
    const parts = text.data
      .split(FORMULA)
      .flatMap((part, i) => (i % 2 ? [{ text: part, marked: false }] : markWords(part, words)));
    if (parts.some(part => part.marked)) {
      text.replaceWith(...parts.map(part => (part.marked ? mark(part.text) : part.text)));
    }
  }
}

function mark(text: string): HTMLElement {
  const element = document.createElement('mark');
  element.textContent = text;
  return element;
}

/** Show the first marked word, unless it is in the upper part of the block anyway. */
function scrollToMark(box: HTMLElement): void {
  const [block, first] = [box.parentElement, box.querySelector('mark')];
  if (block && first) {
    const below = first.getBoundingClientRect().top - block.getBoundingClientRect().top;
    block.scrollTop = below > block.clientHeight * 0.7 ? below - block.clientHeight * 0.2 : 0;
  }
}
