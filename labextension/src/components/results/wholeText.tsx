/** An unfolded card: its toggle, and below the card the memory's whole text in place of the snippet. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { caretRightIcon } from '@jupyterlab/ui-components';
import { type KeyboardEvent, memo, useLayoutEffect, useMemo, useRef } from 'react';

import type { IPlacedHit } from '../../models/hits';
import type { WholeTexts } from '../../models/wholeTexts';
import type { IActions } from '../../tokens';
import { errorText } from '../shared/errorMessage';
import { count } from '../shared/format';
import { isCode, hitNames, isMarkdown } from '../shared/names';
import { withMarks } from '../shared/withMarks';
import { markWords, type IExcerpt, excerpt } from './excerpt';
import { Pictures } from './pictures';
import { RenderedMarkdown } from './rendered';
import { marked } from './snippet';

export interface IWholeTextProps {
  found: IPlacedHit;
  texts: WholeTexts;
  trans: TranslationBundle;
  row: number;
  selected: boolean;
  /** A pattern for the query's words, or null. */
  words: RegExp | null;
  /** The address of a picture of a memory. */
  pictureOf(id: string, place: number): string;
  render: IActions['render'];
  /** Go back to this memory's card in the list. */
  onLeave(id: string): void;
}

interface IToggleProps {
  found: IPlacedHit;
  row: number;
  isOpen: boolean;
  /** Whether it is a tab stop. */
  isStop: boolean;
  trans: TranslationBundle;
  onTurn(id: string): void;
  onLeave(id: string): void;
}

/** The toggle in a card's margin. It lies over the card, because an option of a list box may not contain a button. */
export const WholeTextToggle = memo(function WholeTextSign(props: IToggleProps): JSX.Element {
  const { found, isOpen, trans } = props;
  const id = found.hit.memory_id;
  return (
    <button
      type="button"
      className="jp-Memory-unfold"
      style={{ gridRow: props.row }}
      tabIndex={props.isStop ? 0 : -1}
      title={isOpen ? trans.__('Fold the text (Space)') : trans.__('Show the whole text (Space)')}
      aria-label={trans.__('Whole text of %1', hitNames(found.hit, found.place, trans).title)}
      aria-expanded={isOpen}
      aria-controls={isOpen ? wholeTextId(id) : undefined}
      onClick={() => props.onTurn(id)}
      onKeyDown={event => event.key === 'Escape' && props.onLeave(id)}
    >
      <caretRightIcon.react tag="span" />
    </button>
  );
});

/** The text of an unfolded card, outside of it: there the mouse selects text instead of dragging the card. */
export function WholeText(props: IWholeTextProps): JSX.Element {
  const { found, texts, trans } = props;
  const { hit, place } = found;
  const { item, problem } = texts.all.get(hit.memory_id) ?? { item: null, problem: null };
  const text = item?.text ?? null;
  const shown = useMemo(() => (text === null ? null : excerpt(text.trimEnd(), hit.snippet)), [text, hit.snippet]);
  const isWhole = shown !== null && !shown.before && !shown.behind;
  const render = isWhole && isMarkdown(hit, place) ? props.render : null;
  const code = !render && isCode(hit, place);
  const block = useRef<HTMLDivElement>(null);
  useInView(block, shown);
  return (
    <div
      className={props.selected ? 'jp-Memory-whole jp-mod-selected' : 'jp-Memory-whole'}
      style={{ gridRow: props.row }}
      onKeyDown={event => event.key === 'Escape' && props.onLeave(hit.memory_id)}
    >
      <div
        ref={block}
        id={wholeTextId(hit.memory_id)}
        className={code ? 'jp-Memory-wholeText jp-mod-code' : 'jp-Memory-wholeText'}
        role="group"
        tabIndex={0}
        aria-label={trans.__('Whole text of %1', hitNames(found.hit, found.place, trans).title)}
        aria-busy={!item && !problem}
        dir={shown === null ? undefined : code ? 'ltr' : 'auto'}
        onKeyDown={selectAll}
      >
        {!item && !problem && <span className="jp-Memory-reading">{trans.__('Reading…')}</span>}
        {problem && errorText(problem, trans)}
        {shown !== null &&
          (render ? (
            <RenderedMarkdown text={withMarks(shown.text)} words={props.words} render={render} />
          ) : (
            <Passage shown={shown} words={props.words} />
          ))}
      </div>
      {shown !== null && <Pictures found={found} pictureOf={props.pictureOf} trans={trans} />}
      {shown !== null && <OmittedText shown={shown} canOpen={place.path !== null} trans={trans} />}
      {problem && (
        <button type="button" className="jp-Memory-action" onClick={() => texts.read(hit.memory_id)}>
          {trans.__('Retry')}
        </button>
      )}
    </div>
  );
}

/** The announcement for screen readers when a card is unfolded or folded; `found` is its hit. */
export function WholeTextStatus(props: {
  texts: WholeTexts;
  found: IPlacedHit | undefined;
  trans: TranslationBundle;
}): JSX.Element {
  const { texts, found, trans } = props;
  return (
    <div className="jp-Memory-sr" role="status">
      {found && statusText(texts, found, trans)}
    </div>
  );
}

export function wholeTextId(id: string): string {
  return `jp-Memory-whole-${id}`;
}

function statusText(texts: WholeTexts, { hit, place }: IPlacedHit, trans: TranslationBundle): string {
  const { title } = hitNames(hit, place, trans);
  const text = texts.all.get(hit.memory_id);
  if (!text) {
    return trans.__('Folded: %1', title);
  }
  if (!text.item) {
    return text.problem ? errorText(text.problem, trans) : '';
  }
  const lines = text.item.text.trimEnd().split('\n').length;
  return trans._n('Whole text of %2: %1 line', 'Whole text of %2: %1 lines', lines, title);
}

function Passage({ shown, words }: { shown: IExcerpt; words: RegExp | null }): JSX.Element {
  const at = shown.at ?? 0;
  const [before, after] = useMemo(
    () => [markWords(shown.text.slice(0, at), words), markWords(shown.text.slice(at), words)],
    [shown, at, words]
  );
  return (
    <div className="jp-Memory-passage">
      {marked(before)}
      <span className="jp-Memory-foundHere" />
      {marked(after)}
    </div>
  );
}

/** How much of a text is omitted, and how to get all of it. */
function OmittedText(props: { shown: IExcerpt; canOpen: boolean; trans: TranslationBundle }): JSX.Element | null {
  const { shown, canOpen, trans } = props;
  const { before, behind } = shown;
  if (!before && !behind) {
    return null;
  }
  const [first, last] = [count(before), count(behind)];
  const message = !before
    ? trans.__('%1 more characters follow.', last)
    : !behind
      ? trans.__('%1 characters before are left out.', first)
      : trans.__('%1 characters before and %2 after are left out.', first, last);
  return (
    <p className="jp-Memory-leftOut">
      {message} {canOpen ? trans.__('Open shows them all.') : trans.__('Copy takes them all.')}
    </p>
  );
}

/** Scroll to the snippet, unless it is in the upper part of the block anyway. */
function useInView(block: React.RefObject<HTMLDivElement>, shown: IExcerpt | null): void {
  const text = shown?.text;
  useLayoutEffect(() => {
    const here = block.current?.querySelector('.jp-Memory-foundHere');
    if (!block.current || !here) {
      return;
    }
    const { top, height } = block.current.getBoundingClientRect();
    const below = here.getBoundingClientRect().top - top;
    block.current.scrollTop = below > height * 0.7 ? below - height * 0.2 : 0;
  }, [block, text]);
}

/** Select the whole text, and nothing else on the page. */
function selectAll(event: KeyboardEvent<HTMLDivElement>): void {
  if (event.key.toLowerCase() === 'a' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
    event.preventDefault();
    event.stopPropagation();
    window.getSelection()?.selectAllChildren(event.currentTarget);
  }
}
