/** An unfolded card: its toggle, and below the card the memory's whole text in place of the snippet, with its versions. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { caretRightIcon } from '@jupyterlab/ui-components';
import {
  type CSSProperties,
  type KeyboardEvent,
  memo,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState
} from 'react';

import { ApiError } from '../../api/memoryApi';
import type { IVersion, IVersions } from '../../api/types';
import type { IPlacedHit } from '../../models/hits';
import type { SearchModel } from '../../models/searchModel';
import type { WholeTexts } from '../../models/wholeTexts';
import type { IActions, ICellNearby, IRendered, IToken } from '../../tokens';
import { ErrorMessage, errorText, type IProps, TextButton } from '../shared/elements';
import { count, moment } from '../shared/format';
import { canRun, hitNames, isCode, isMarkdown, outcomeName, took } from '../shared/labels';
import { coloured, withMarks, withoutMarkdown } from '../shared/text';
import { type IExcerpt, excerpt, markWords, matchedWords } from './excerpt';
import { marked, Pictures, useTokens } from './snippet';

/** Milliseconds on a hit before its text is fetched: keys may run down the list. */
const REST = 100;

const NEARBY_LINES = 5;

interface IWholeTextProps {
  found: IPlacedHit;
  texts: WholeTexts;
  trans: TranslationBundle;
  /** Null outside of the list. */
  row: number | null;
  selected: boolean;
  words: RegExp | null;
  pictureOf(id: string, place: number): Promise<string>;
  actions: IActions;
  onLeave(id: string): void;
}

interface IUnfoldProps {
  row: number;
  isOpen: boolean;
  isStop: boolean;
  look: string;
  title: string;
  label: string;
  controls?: string;
  onTurn(): void;
  onLeave?(): void;
}

/** The toggle of a row: of its whole text, or of the section whose hits are folded into it. */
export function Unfold(props: IUnfoldProps): JSX.Element {
  return (
    <button
      className={`jp-Memory-unfold ${props.look}`}
      style={{ gridRow: props.row }}
      tabIndex={props.isStop ? 0 : -1}
      title={props.title}
      aria-label={props.label}
      aria-expanded={props.isOpen}
      aria-controls={props.controls}
      onClick={props.onTurn}
      onKeyDown={event => event.key === 'Escape' && props.onLeave?.()}
    >
      <caretRightIcon.react tag="span" />
    </button>
  );
}

interface IToggleProps
  extends Pick<IUnfoldProps, 'row' | 'isOpen' | 'isStop'>, Pick<IWholeTextProps, 'found' | 'trans' | 'onLeave'> {
  /** Whether the mouse is over the hit; elsewhere the dense list hides it. */
  isNear: boolean;
  onTurn(id: string): void;
}

/** The toggle in a card's margin. It lies over the card, because an option of a list box may not contain a button. */
export const WholeTextToggle = memo(function WholeTextSign(props: IToggleProps): JSX.Element {
  const { found, isOpen, trans } = props;
  const id = found.hit.memory_id;
  return (
    <Unfold
      {...props}
      look={props.isStop || props.isNear ? 'jp-mod-near' : ''}
      title={isOpen ? trans.__('Fold the text (Space)') : trans.__('Show the whole text (Space)')}
      label={trans.__('Whole text of %1', hitNames(found.hit, found.place, trans).title)}
      controls={isOpen ? wholeTextId(id) : undefined}
      onTurn={() => props.onTurn(id)}
      onLeave={() => props.onLeave(id)}
    />
  );
});

/** The text of an unfolded card, outside of it: there the mouse selects text instead of dragging the card. */
export function WholeText(props: IWholeTextProps): JSX.Element {
  const { found, texts, actions, trans } = props;
  const { hit, place } = found;
  const [around, setAround] = useState<ICellNearby[]>([]);
  const { item, problem } = texts.all.get(hit.memory_id) ?? { item: null, problem: null };
  const text = item?.text ?? null;
  const shown = useMemo(() => (text === null ? null : excerpt(text.trimEnd(), hit.snippet)), [text, hit.snippet]);
  const isWhole = shown !== null && !shown.before && !shown.behind;
  const render = isWhole && isMarkdown(hit, place) ? actions.render : null;
  const code = !render && isCode(hit, place);
  const tokens = useTokens(actions.highlight, code ? (shown?.text ?? null) : null, place.lang);
  const block = useRef<HTMLDivElement>(null);
  useLayoutEffect(
    () => bringIntoView(block.current, block.current?.querySelector('.jp-Memory-foundHere')),
    [shown?.text]
  );
  const isRead = text !== null;
  useEffect(() => {
    let isGone = false;
    if (isRead) {
      void actions.around(place).then(cells => !isGone && setAround(cells));
    }
    return () => {
      isGone = true;
    };
  }, [actions, place.path, place.cell, place.index, isRead]);
  const nearby = (side: number): JSX.Element[] =>
    around
      .filter(({ offset }) => offset === side)
      .map(cell => (
        <Nearby key={cell.index} cell={cell} lang={place.lang} words={props.words} {...{ actions, trans }} />
      ));
  return (
    <div
      className={props.selected ? 'jp-Memory-whole jp-mod-selected' : 'jp-Memory-whole'}
      style={{ gridRow: props.row ?? undefined }}
      onKeyDown={event => event.key === 'Escape' && props.onLeave(hit.memory_id)}
    >
      {hit.folder_description && <p className="jp-Memory-leftOut">{withMarks(hit.folder_description)}</p>}
      {nearby(-1)}
      {isRead && (
        <p className="jp-Memory-cell">
          <span>{hitNames(hit, place, trans).at}</span>
          {actions.hasNotebook && <Inserts found={found} around={around} actions={actions} trans={trans} />}
        </p>
      )}
      <div
        ref={block}
        id={props.row === null ? undefined : wholeTextId(hit.memory_id)}
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
            <Passage shown={shown} words={props.words} tokens={tokens} />
          ))}
      </div>
      {shown !== null && <Pictures found={found} pictureOf={props.pictureOf} trans={trans} />}
      {(place.run ?? place.seconds) && <Versions id={hit.memory_id} {...{ texts, actions, trans }} />}
      {shown !== null && <OmittedText shown={shown} canOpen={place.path !== null} trans={trans} />}
      {nearby(1)}
      {problem && <TextButton look="action" label={trans.__('Retry')} run={() => texts.read(hit.memory_id)} />}
    </div>
  );
}

/** Every text that ran in the cell of a memory, with what it changed; fetched when a person asks. */
function Versions({
  id,
  texts,
  actions,
  trans
}: Pick<IWholeTextProps, 'texts' | 'actions' | 'trans'> & { id: string }): JSX.Element {
  const [told, setTold] = useState<IVersions | ApiError | null>(null);
  const ask = (): void => void texts.versions(id).then(setTold);
  if (told === null) {
    return (
      <div className="jp-Memory-versions">
        <TextButton look="action" label={trans.__('Versions')} run={ask} />
      </div>
    );
  }
  if (told instanceof ApiError) {
    return <ErrorMessage problem={told} trans={trans} act={{ label: trans.__('Retry'), run: ask }} />;
  }
  const head = (one: IVersion): string => {
    const runs = one.durations.length > 0 && took(one.durations, trans);
    const facts = [trans.__('version %1', one.version), moment(one.when, 'medium'), outcomeName(one, trans), runs];
    return [...facts, withMarks(one.result)].filter(fact => fact).join(' · ');
  };
  return (
    <div className="jp-Memory-versions">
      {told.notice && <p>{withMarks(told.notice)}</p>}
      {told.versions.map(one => (
        <Block
          key={one.version}
          head={head(one)}
          cell={{ index: 0, offset: 0, isCode: true, source: one.text }}
          {...{ actions, trans }}
        >
          {withMarks(one.diff.split('\n').slice(3).join('\n') || one.text)}
        </Block>
      ))}
    </div>
  );
}

interface IBlockProps extends Pick<IWholeTextProps, 'actions' | 'trans'> {
  head: string;
  cell: ICellNearby;
  children: ReactNode;
}

/** A cell that can be inserted: one beside the cell that was found, or a version of that. */
function Block({ head, cell, actions, trans, children }: IBlockProps): JSX.Element {
  return (
    <div className={cell.isCode ? 'jp-Memory-nearby jp-mod-code' : 'jp-Memory-nearby'}>
      <p className="jp-Memory-cell">
        <span>{head}</span>
        {actions.hasNotebook && (
          <TextButton look="action" label={trans.__('Insert')} run={() => void actions.insertCells([cell])} />
        )}
      </p>
      <div dir={cell.isCode ? 'ltr' : 'auto'}>{children}</div>
    </div>
  );
}

type IPeekProps = IProps<SearchModel> & Pick<IWholeTextProps, 'found' | 'actions' | 'onLeave'>;

/** The whole text of a hit for as long as somebody rests on it; its card stays folded. */
export function Peek({ model, ...props }: IPeekProps): JSX.Element {
  const { memory_id } = props.found.hit;
  const { hits, peeks } = model;
  const words = useMemo(() => matchedWords(hits.map(one => one.hit)), [hits]);
  useEffect(() => {
    const timer = setTimeout(() => peeks.read(memory_id), REST);
    return () => {
      clearTimeout(timer);
      peeks.fold(memory_id);
    };
  }, [peeks, memory_id]);
  const pictureOf = (id: string, at: number): Promise<string> => model.picture(id, at);
  return <WholeText {...props} texts={peeks} row={null} selected={false} {...{ words, pictureOf }} />;
}

/** Milliseconds of rest until it is shown, and until it changes or goes: the mouse may be on its way into it. */
const CALM = 600;
const GOING = 250;

/** Pixels: narrower than `LEAST` it would help nobody. */
const LEAST = 240;
const MOST = 520;
const GAP = 4;

interface IShown {
  option: string;
  style: CSSProperties;
}

export function useHoverPreview(isOn: boolean) {
  const [shown, show] = useState<IShown | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  // A hit that is clicked or dragged was read already.
  const pressed = useRef<Element | null>(null);
  const turn = (to: Element | null, delay: number): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => show(to && { option: to.id, style: beside(to) }), delay);
  };
  const partAt = (target: EventTarget): Element | null =>
    (target as Element).closest('[role="option"], .jp-Memory-beside');
  const hide = ({ target }: { target: EventTarget }): void => {
    if (!partAt(target)?.matches('.jp-Memory-beside')) {
      pressed.current = partAt(target);
      turn(null, 0);
    }
  };
  useEffect(() => {
    const onKey = ({ key }: { key: string }): void => (key === 'Escape' ? turn(null, 0) : undefined);
    document.addEventListener('keydown', onKey, true);
    return () => {
      document.removeEventListener('keydown', onKey, true);
      clearTimeout(timer.current);
    };
  }, []);
  const on = {
    onPointerOver: ({ target, pointerType, buttons }: PointerEvent) => {
      const part = partAt(target);
      if (part && part === pressed.current) {
        return;
      }
      pressed.current = null;
      if (part?.matches('.jp-Memory-beside') || (shown && part?.id === shown.option)) {
        clearTimeout(timer.current);
      } else {
        turn(pointerType === 'mouse' && !buttons ? part : null, shown ? GOING : CALM);
      }
    },
    onPointerLeave: () => turn(null, GOING),
    onPointerDown: hide,
    onWheel: hide
  };
  return isOn ? { shown, on } : { shown: null, on: {} };
}

/** Where the page has more room, at the height of a hit. */
function beside(option: Element): CSSProperties {
  const { left, right, top, bottom } = option.getBoundingClientRect();
  const isRight = window.innerWidth - right > left;
  const room = (isRight ? window.innerWidth - right : left) - 2 * GAP;
  const isLow = top + bottom > window.innerHeight;
  return {
    display: room < LEAST ? 'none' : undefined,
    width: Math.min(room, MOST),
    maxHeight: isLow ? bottom - GAP : window.innerHeight - top - GAP,
    [isRight ? 'left' : 'right']: (isRight ? right : window.innerWidth - left) + GAP,
    [isLow ? 'bottom' : 'top']: isLow ? window.innerHeight - bottom : top
  };
}

/** The preview of the hit on which the mouse has come to rest, beside the panel. */
export function HoverPreview({ style, ...props }: IPeekProps & { style: CSSProperties }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    // Above everything: the panel cuts off what is larger than it.
    box.current!.popover = 'manual';
    box.current!.showPopover?.();
  }, []);
  return (
    <div ref={box} className="jp-Memory-results jp-Memory-peek jp-Memory-beside" style={style}>
      <Peek {...props} />
    </div>
  );
}

export function wholeTextId(id: string): string {
  return `jp-Memory-whole-${id}`;
}

/** What a screen reader says when a card is unfolded or folded. */
export function statusText(texts: WholeTexts, { hit, place }: IPlacedHit, trans: TranslationBundle): string {
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

interface IInsertsProps extends Pick<IWholeTextProps, 'found' | 'actions' | 'trans'> {
  around: readonly ICellNearby[];
}

function Inserts({ found, around, actions, trans }: IInsertsProps): JSX.Element {
  const { hit } = found;
  const runs = trans.__('Insert what runs');
  const all = trans.__('Insert all %1', around.length);
  return (
    <>
      {canRun(found) && <TextButton look="action" label={runs} run={() => void actions.insert(hit, true)} />}
      {around.length > 1 && <TextButton look="action" label={all} run={() => void actions.insertCells(around)} />}
      <TextButton look="action" label={trans.__('Insert')} run={() => void actions.insert(hit)} />
    </>
  );
}

interface INearbyProps extends Pick<IWholeTextProps, 'actions' | 'words' | 'trans'> {
  cell: ICellNearby;
  lang: string;
}

function Nearby({ cell, lang, words, actions, trans }: INearbyProps): JSX.Element {
  const { index, isCode, source } = cell;
  const text = source.trim().split('\n').slice(0, NEARBY_LINES).join('\n');
  const tokens = useTokens(actions.highlight, isCode ? text : null, lang === 'markdown' ? 'python' : lang);
  const parts = markWords(text, words);
  return (
    <Block head={trans.__('cell %1', index + 1)} {...{ cell, actions, trans }}>
      {marked(isCode ? coloured(parts, tokens) : withoutMarkdown(parts))}
    </Block>
  );
}

interface IPassageProps {
  shown: IExcerpt;
  words: RegExp | null;
  tokens: readonly IToken[];
}

function Passage({ shown, words, tokens }: IPassageProps): JSX.Element {
  const at = shown.at ?? 0;
  const [before, after] = useMemo(() => {
    const rest = tokens.map(({ from, to, look }) => ({ from: from - at, to: to - at, look }));
    return [
      coloured(markWords(shown.text.slice(0, at), words), tokens),
      coloured(markWords(shown.text.slice(at), words), rest)
    ];
  }, [shown, at, words, tokens]);
  return (
    <div className="jp-Memory-passage">
      {marked(before)}
      <span className="jp-Memory-foundHere" />
      {marked(after)}
    </div>
  );
}

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

/** Scroll to a place in a block, unless it is in the upper part of the block anyway. */
function bringIntoView(block: HTMLElement | null, place: Element | null | undefined): void {
  if (block && place) {
    const { top, height } = block.getBoundingClientRect();
    const below = place.getBoundingClientRect().top - top;
    block.scrollTop = below > height * 0.7 ? below - height * 0.2 : 0;
  }
}

function selectAll(event: KeyboardEvent<HTMLDivElement>): void {
  if (event.key.toLowerCase() === 'a' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
    event.preventDefault();
    event.stopPropagation();
    window.getSelection()?.selectAllChildren(event.currentTarget);
  }
}

export function RenderedMarkdown(props: {
  text: string;
  words: RegExp | null;
  render: NonNullable<IActions['render']>;
}): JSX.Element {
  const { text, words, render } = props;
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
      bringIntoView(box.current.parentElement, made.node.querySelector('mark'));
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
function markIn(node: HTMLElement, words: RegExp | null): void {
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
      text.replaceWith(...parts.map(part => (part.marked ? marking(part.text) : part.text)));
    }
  }
}

function marking(text: string): HTMLElement {
  return Object.assign(document.createElement('mark'), { textContent: text });
}
