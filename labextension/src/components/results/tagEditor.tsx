/** Edits tags in one line, separated by commas. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { useEffect, useRef, useState } from 'react';

/** The tags of a line: without `#`, without duplicates. */
export function parseTags(line: string): string[] {
  const tags = line.split(/[,;\n]/).map(tag => tag.trim().replace(/^#+\s*/, ''));
  return [...new Set(tags.filter(tag => tag))];
}

/** Enter saves the tags, Escape leaves them as they were. */
export function TagEditor(props: {
  tags: string[];
  trans: TranslationBundle;
  onDone(tags: string[] | null): void;
}): JSX.Element {
  const { trans } = props;
  const [line, setLine] = useState(props.tags.join(', '));
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    input.current?.select();
  }, []);
  return (
    <form
      className="jp-Memory-tagEditor"
      onSubmit={event => {
        event.preventDefault();
        props.onDone(parseTags(line));
      }}
    >
      <input
        ref={input}
        className="jp-mod-styled"
        dir="auto"
        value={line}
        aria-label={trans.__('Tags, with commas')}
        placeholder={trans.__('Tags, with commas')}
        onChange={event => setLine(event.target.value)}
        onKeyDown={event => {
          if (event.key === 'Escape') {
            event.stopPropagation();
            props.onDone(null);
          }
        }}
      />
      <button type="submit" className="jp-Memory-action">
        {trans.__('Keep')}
      </button>
    </form>
  );
}
