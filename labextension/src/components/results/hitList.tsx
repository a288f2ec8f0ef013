/** The hits as a list box: keys act on the selected one, and its actions are shown below it. */

import { Fragment, type KeyboardEvent, useCallback, useEffect, useMemo, useReducer, useRef, useState } from 'react';

import type { IHit } from '../../api/types';
import type { IPlacedHit } from '../../models/hits';
import type { SearchModel } from '../../models/searchModel';
import type { IActions } from '../../tokens';
import type { IProps } from '../shared/elements';
import { basename, hitNames, sectionOf } from '../shared/labels';
import { withMarks } from '../shared/text';
import { matchedWords } from './excerpt';
import { HitCard, support } from './hit';
import { HitActions, HoverActions, openMenu, OPTION, optionId } from './hitActions';
import {
  HoverPreview,
  statusText,
  Unfold,
  useHoverPreview,
  WholeText,
  wholeTextId,
  WholeTextToggle
} from './wholeText';
import { useWordEnds } from './snippet';

export interface IHitListProps extends IProps<SearchModel> {
  actions: IActions;
  onIndex(path: string): void;
  onLeave(): void;
  isOverlay?: boolean;
}

export function HitList(props: IHitListProps): JSX.Element {
  const { model, actions, trans } = props;
  const { hits, selected, texts } = model;
  const { dense, grouped, folded, opened } = model.selection;
  const unfolded = texts.all;
  const box = useRef<HTMLDivElement>(null);
  const pressed = useRef(false);
  const [hovered, setHovered] = useState<string | null>(null);
  const preview = useHoverPreview(!props.isOverlay);
  // Checks whether there is a notebook to insert into whenever the mouse or the focus comes here.
  const [, near] = useReducer((times: number) => times + 1, 0);
  const layout = useMemo(
    () => rows(hits, { grouped, folded, selected, unfolded, opened: dense ? opened : null }),
    [hits, grouped, folded, selected, unfolded, dense, opened]
  );
  const columns = useWordEnds(box, layout);
  const words = useMemo(() => (unfolded.size ? matchedWords(hits.map(one => one.hit)) : null), [hits, unfolded.size]);
  const longest = useMemo(() => Math.max(...hits.map(one => support(one.hit)), 0), [hits]);
  const chosen = layout.seen.find(one => one.found.hit.memory_id === selected);
  const under = layout.seen.find(one => one.found.hit.memory_id === hovered && hovered !== selected);
  const rested = layout.seen.find(one => optionId(one.found) === preview.shown?.option && one.whole === null);
  const toggled = texts.lastToggled === null ? undefined : model.find(texts.lastToggled);
  const read = selected === null ? undefined : unfolded.get(selected);
  const text = read && (read.item?.text ?? read.problem);
  // Keep the selected hit and its actions in view; after a click, only the hit, so that the mouse keeps its target.
  useEffect(() => {
    // A hit in a folded group is represented by the heading.
    const option = box.current?.querySelector('[aria-selected="true"], .jp-Memory-heading.jp-mod-chosen');
    if (box.current?.matches(':focus-visible')) {
      box.current.parentElement?.querySelector('.jp-Memory-actions')?.scrollIntoView?.({ block: 'nearest' });
      option?.scrollIntoView?.({ block: 'nearest' });
    }
  }, [selected, folded, text]);
  useEffect(() => {
    box.current?.querySelector('[aria-selected="true"]')?.scrollIntoView?.({ block: 'nearest' });
  }, [selected]);

  const onBack = useCallback(() => box.current?.focus({ preventScroll: true }), []);
  const common = useMemo(
    () => ({
      trans,
      highlight: actions.highlight,
      onSelect: (id: string) => model.selection.select(id),
      onOpen: (one: IPlacedHit, toSide: boolean) => open(actions, one, toSide),
      onDrag: (hit: IHit, event: MouseEvent) => void actions.drag(hit, event),
      onTurn: (id: string) => texts.toggle(id),
      pictureOf: (id: string, at: number) => model.picture(id, at),
      // After reading a text, the keyboard continues at its card, even if the mouse unfolded it without selecting it.
      onLeave: (id: string) => {
        model.selection.select(id);
        onBack();
      }
    }),
    [model, actions, texts, trans, onBack]
  );
  const card = {
    ...common,
    terms: model.answer?.terms ?? [],
    longest,
    onHover: setHovered,
    columns,
    dense
  };
  const actionProps = { ...props, onLeave: onBack };
  return (
    <div
      className={dense ? 'jp-Memory-grid jp-mod-dense' : 'jp-Memory-grid'}
      style={{ gridTemplateRows: `repeat(${layout.length}, auto)` }}
      onMouseEnter={near}
      onFocus={near}
      onMouseLeave={() => setHovered(null)}
      {...preview.on}
    >
      <div
        ref={box}
        className="jp-Memory-list"
        role="listbox"
        tabIndex={0}
        aria-label={trans.__('Results')}
        aria-activedescendant={chosen ? optionId(chosen.found) : undefined}
        onMouseDown={() => (pressed.current = true)}
        onMouseUp={() => (pressed.current = false)}
        onFocus={() => {
          // The model may be newer than the list. A click selects its own target, which must not move away.
          if (!selectedIn(model) && !pressed.current && layout.seen.length) {
            model.selection.select(layout.seen[0].found.hit.memory_id);
          }
        }}
        onKeyDown={event => onKey(event, props, layout)}
        onContextMenu={event => {
          const option = (event.target as Element).closest('[role="option"]');
          if (option) {
            model.selection.select(option.id.slice(OPTION.length));
          } else if (event.target === event.currentTarget && chosen) {
            // The menu key means the selected hit.
            event.preventDefault();
            event.stopPropagation();
            openMenu(optionId(chosen.found));
          }
        }}
      >
        {layout.groups.map(group => (
          <Group key={group.source} group={group} {...props}>
            {group.hits.map(({ found, row, section, isMember }) => (
              <HitCard
                key={found.hit.memory_id}
                {...card}
                found={found}
                row={row}
                more={section?.more ?? 0}
                isMember={isMember}
                grouped={group.heading !== null}
                selected={found.hit.memory_id === selected}
                whole={!!unfolded.get(found.hit.memory_id)?.item}
                accepted={model.edits.accepted(found.hit.memory_id)}
              />
            ))}
          </Group>
        ))}
      </div>
      {layout.seen.map(one => (
        <Fragment key={one.found.hit.memory_id}>
          <WholeTextToggle
            {...common}
            found={one.found}
            row={one.row}
            isOpen={one.whole !== null}
            isStop={one === chosen || one.whole !== null}
            isNear={one === under}
          />
          {one.section && <SectionToggle model={model} one={one} isStop={one === chosen} trans={trans} />}
          {one.whole !== null && (
            <WholeText
              {...common}
              found={one.found}
              row={one.whole}
              texts={texts}
              words={words}
              actions={actions}
              selected={one === chosen}
            />
          )}
          {one === chosen && layout.actions !== null && (
            <HitActions {...actionProps} one={one} below={layout.actions} />
          )}
        </Fragment>
      ))}
      {under && <HoverActions {...actionProps} one={under} />}
      {rested && (
        <HoverPreview
          key={optionId(rested.found)}
          {...{ model, actions, trans }}
          found={rested.found}
          style={preview.shown!.style}
          onLeave={onBack}
        />
      )}
      <div className="jp-Memory-sr" role="status">
        {toggled && statusText(texts, toggled, trans)}
      </div>
    </div>
  );
}

function Group(props: IHitListProps & { group: Rows['groups'][number]; children: JSX.Element[] }): JSX.Element {
  const { group, trans } = props;
  if (group.heading === null) {
    return <>{props.children}</>;
  }
  const label = group.source ? withMarks(basename(group.source)) : trans.__('In no file');
  const isChosen = group.folded && selectedIn(props.model)?.hit.source === group.source;
  const marks = [group.folded && ' jp-mod-folded', isChosen && ' jp-mod-chosen'].filter(one => one).join('');
  return (
    <div role="group" className="jp-Memory-group" aria-label={`${label}, ${group.count}`}>
      <div
        className={`jp-Memory-heading${marks}`}
        role="presentation"
        style={{ gridRow: group.heading }}
        title={withMarks(group.source)}
        onClick={() => props.model.selection.fold(group.source, !group.folded)}
      >
        <bdi>{label}</bdi>
        <span className="jp-Memory-count">{group.count}</span>
      </div>
      {props.children}
    </div>
  );
}

function open(actions: IActions, { hit, place }: IPlacedHit, toSide: boolean): void {
  if (place.path !== null) {
    void actions.open(hit, place, toSide);
  }
}

function onKey(event: KeyboardEvent, props: IHitListProps, layout: Rows): void {
  const { model, actions } = props;
  const intended = intent(event, getComputedStyle(event.currentTarget).direction === 'rtl');
  const chosen = selectedIn(model);
  const found = layout.seen.find(one => one.found.hit.memory_id === model.selected)?.found;
  if (!intended) {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
  switch (intended.do) {
    case 'move': {
      const to = target(layout, model, intended.to);
      if (!to) {
        return intended.to === 'previous' ? props.onLeave() : undefined;
      }
      return model.selection.select(to.found.hit.memory_id);
    }
    case 'leave':
      if (model.answers.isTurned) {
        void model.answers.back();
      }
      return props.onLeave();
    case 'fold':
      return fold(intended.open, props, layout, chosen);
    case 'turn':
      return found && model.texts.toggle(found.hit.memory_id);
    case 'open':
      return found && open(actions, found, intended.toSide);
    case 'insert':
      return found && actions.hasNotebook ? void actions.insert(found.hit) : undefined;
    case 'copy':
      return found && void actions.copy(found.hit);
    case 'forget':
      return found && model.forget(found.hit.memory_id);
  }
}

/** One step from a group to a section, to a hit, to its whole text and into it, or one step back. */
function fold(open: boolean, { model }: IHitListProps, layout: Rows, chosen: IPlacedHit | undefined): void {
  if (!chosen) {
    return;
  }
  const { memory_id, source } = chosen.hit;
  const at = layout.seen.findIndex(({ found }) => found === chosen);
  const isSeen = at >= 0;
  const isUnfolded = isSeen && model.texts.all.has(memory_id);
  const lead = layout.seen
    .slice(0, at + 1)
    .reverse()
    .find(one => !one.isMember);
  if (open && isUnfolded) {
    document.getElementById(wholeTextId(memory_id))?.focus();
  } else if (open && lead?.found === chosen && lead.section && !lead.section.isOpen) {
    openSection(model, lead, true);
  } else if (open && isSeen) {
    model.texts.unfold(memory_id);
  } else if (isUnfolded) {
    model.texts.fold(memory_id);
  } else if (lead?.section?.isOpen) {
    openSection(model, lead, false);
  } else if (model.selection.grouped) {
    // This includes a folded group: otherwise no key would unfold it.
    model.selection.fold(source, !open);
  }
}

function SectionToggle(props: IProps<SearchModel> & { one: Row; isStop: boolean }): JSX.Element {
  const { model, one, isStop, trans } = props;
  const { more, isOpen } = one.section!;
  const { title } = hitNames(one.found.hit, one.found.place, trans);
  return (
    <Unfold
      look="jp-mod-section"
      row={one.row}
      {...{ isOpen, isStop }}
      title={isOpen ? trans.__('Fold the section') : trans._n('%1 more cell', '%1 more cells', more)}
      label={trans._n('%1 more cell of %2', '%1 more cells of %2', more, title)}
      onTurn={() => openSection(model, one, !isOpen)}
    />
  );
}

/** Show the hits of a section, or fold them into its first; that one is selected where one of them was. */
function openSection(model: SearchModel, { found, section }: Row, isOpen: boolean): void {
  if (!isOpen && model.selected !== null) {
    model.selection.select(found.hit.memory_id);
  }
  if (section) {
    model.selection.openSection(section.key, isOpen);
  }
}

function selectedIn(model: SearchModel): IPlacedHit | undefined {
  return model.selected === null ? undefined : model.find(model.selected);
}

/** The target of a move, also from a hit in a folded group; undefined beyond the ends. */
function target(layout: Rows, model: SearchModel, move: Move): Row | undefined {
  const { seen, groups } = layout;
  const at = seen.findIndex(one => one.found.hit.memory_id === model.selected);
  const group = groups.findIndex(one => one.source === selectedIn(model)?.hit.source);
  // For a folded hit: how many visible hits are above its group.
  const above = at < 0 ? groups.slice(0, Math.max(group, 0)).flatMap(one => one.hits).length : at;
  const below = at < 0 ? above : above + 1;
  return seen[{ next: Math.min(below, seen.length - 1), previous: above - 1, first: 0, last: seen.length - 1 }[move]];
}

/** The hits by file, the file with the best hit first. */
function byFile(hits: readonly IPlacedHit[]): { source: string; hits: readonly IPlacedHit[] }[] {
  const sources = [...new Set(hits.map(one => one.hit.source))];
  return sources.map(source => ({ source, hits: hits.filter(one => one.hit.source === source) }));
}

/** A section of a notebook with several hits: `more` are folded into its best one, or shown below it. */
export interface ISection {
  key: string;
  more: number;
  isOpen: boolean;
}

/** The hits with those of a section behind its best one, and without them unless it is open or one is selected. */
function bySection(hits: readonly IPlacedHit[], opened: ReadonlySet<string>, selected: string | null) {
  const sections = new Map<string, IPlacedHit[]>();
  for (const one of hits) {
    const key = sectionOf(one.hit, one.place) ?? one.hit.memory_id;
    sections.set(key, [...(sections.get(key) ?? []), one]);
  }
  return [...sections].flatMap(([key, [lead, ...others]]) => {
    const isOpen = opened.has(key) || others.some(one => one.hit.memory_id === selected);
    const section = others.length ? { key, more: others.length, isOpen } : null;
    const members = isOpen ? others.map(found => ({ found, section: null, isMember: true })) : [];
    return [{ found: lead, section, isMember: false }, ...members];
  });
}

interface ILayout {
  grouped?: boolean;
  folded?: ReadonlySet<string>;
  selected?: string | null;
  unfolded?: Pick<ReadonlyMap<string, unknown>, 'has'>;
  /** The sections that are open; null where they are not folded. */
  opened?: ReadonlySet<string> | null;
}

/** The 1-based rows of the grid from top to bottom: headings of files, hits, whole texts, actions of the selected hit. */
export function rows(hits: readonly IPlacedHit[], layout: ILayout) {
  const { grouped = false, folded = new Set(), selected = null, unfolded = new Map(), opened = null } = layout;
  let row = 0;
  let actions = null as number | null;
  const groups = (grouped ? byFile(hits) : [{ source: '', hits }]).map(group => {
    const isFolded = grouped && folded.has(group.source);
    const heading = grouped ? ++row : null;
    const whole = group.hits.map(found => ({ found, section: null as ISection | null, isMember: false }));
    const seen = (isFolded ? [] : opened ? bySection(group.hits, opened, selected) : whole).map(one => {
      const { memory_id } = one.found.hit;
      const at = ++row;
      const whole = unfolded.has(memory_id) ? ++row : null;
      actions = memory_id === selected ? ++row : actions;
      return { ...one, row: at, whole };
    });
    return { source: group.source, heading, count: group.hits.length, folded: isFolded, hits: seen };
  });
  return { groups, seen: groups.flatMap(group => group.hits), actions, length: row };
}

type Rows = ReturnType<typeof rows>;

export type Row = Rows['seen'][number];

type Move = 'next' | 'previous' | 'first' | 'last';

type Intent =
  | { do: 'move'; to: Move }
  | { do: 'fold'; open: boolean }
  | { do: 'turn' }
  | { do: 'open'; toSide: boolean }
  | { do: 'insert' | 'copy' | 'forget' | 'leave' };

type Key = Pick<KeyboardEvent, 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey'>;

/** The intent of a key, or null if the list does not use it. Right-to-left layouts swap the keys that fold. */
export function intent(event: Key, isMirrored = false): Intent | null {
  const accel = event.ctrlKey || event.metaKey;
  if (event.altKey) {
    return null;
  }
  if (event.key === 'Enter') {
    return accel ? { do: 'insert' } : { do: 'open', toSide: event.shiftKey };
  }
  const intended = accel ? null : (PLAIN[event.key] ?? null);
  return intended?.do === 'fold' && isMirrored ? { do: 'fold', open: !intended.open } : intended;
}

const PLAIN: Record<string, Intent> = {
  ArrowDown: { do: 'move', to: 'next' },
  ArrowUp: { do: 'move', to: 'previous' },
  Home: { do: 'move', to: 'first' },
  End: { do: 'move', to: 'last' },
  ArrowRight: { do: 'fold', open: true },
  ArrowLeft: { do: 'fold', open: false },
  c: { do: 'copy' },
  C: { do: 'copy' },
  ' ': { do: 'turn' },
  Delete: { do: 'forget' },
  Escape: { do: 'leave' }
};
