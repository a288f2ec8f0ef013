/** Markdown as one reads it: its marks of headings, emphasis, code and links are taken out, highlights stay in place. */

import type { IPiece } from './highlights';

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

/** Prose without Markdown's marks; what is highlighted stays so. */
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

/** The places of the characters that are Markdown's own. */
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
