/** The filters of the search as chips, chosen and available ones, with counts. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { caretDownIcon, caretUpIcon, closeIcon } from '@jupyterlab/ui-components';
import { type RefObject, useEffect, useId, useRef, useState, type WheelEvent } from 'react';

import type { IFilters } from '../../api/types';
import {
  type Facet,
  FACETS,
  facetValues,
  isFiltered,
  toggled,
  typedFilters,
  withoutTypedFilter,
  withValues
} from '../../models/filters';
import type { SearchModel } from '../../models/searchModel';
import { count, daysAgo, period } from '../shared/format';
import { basename, facetName, kindName, tierName } from '../shared/labels';
import { withMarks } from '../shared/text';

interface IChipsProps {
  model: SearchModel;
  trans: TranslationBundle;
}

type Menu = Exclude<Facet, 'kind'> | 'date';

export function Chips({ model, trans }: IChipsProps): JSX.Element | null {
  const box = useRef<HTMLDivElement>(null);
  const { open, toggle, close } = useMenu<Menu>(box, model.query);
  const id = useId();
  const menus = FACETS.filter((facet): facet is Exclude<Facet, 'kind'> => facet !== 'kind').filter(
    facet => facetValues(model.facets, model.filters, facet).length > (model.filters[facet]?.length ? 0 : 1)
  );
  if (!model.answer && !isFiltered(model.filters)) {
    return null;
  }
  return (
    <div
      ref={box}
      className="jp-Memory-filters"
      role="group"
      aria-label={trans.__('Filters')}
      onKeyDown={event => {
        if (event.key === 'Escape' && open) {
          event.stopPropagation();
          close();
        }
      }}
    >
      <div className="jp-Memory-chips" onWheel={scrollSideways}>
        <Removable model={model} trans={trans} />
        <Kinds model={model} trans={trans} />
        {menus.map(facet => (
          <MenuChip
            key={facet}
            label={facetName(facet, trans)}
            chosen={model.filters[facet]?.length ?? 0}
            isOpen={open === facet}
            controls={id}
            onToggle={() => toggle(facet)}
          />
        ))}
        <MenuChip
          label={trans.__('Date')}
          chosen={0}
          isOpen={open === 'date'}
          controls={id}
          onToggle={() => toggle('date')}
        />
      </div>
      {open && (
        <div className="jp-Memory-menu" id={id}>
          {open === 'date' ? (
            <Dates model={model} trans={trans} onDone={close} />
          ) : (
            <Values model={model} trans={trans} facet={open} />
          )}
        </div>
      )}
    </div>
  );
}

function scrollSideways(event: WheelEvent<HTMLElement>): void {
  if (!event.deltaX) {
    event.currentTarget.scrollLeft += event.deltaY;
  }
}

function Removable({ model, trans }: IChipsProps): JSX.Element {
  const { filters, since } = model;
  const isAsked = model.showing.what === 'search';
  const read = isAsked ? model.answer?.time_read : null;
  // Filters of the answered query that are still in the box: not those being typed, nor those just removed.
  const there = typedFilters(model.query);
  const inWords =
    isAsked && model.answer ? typedFilters(model.answers.request().query).filter(one => there.includes(one)) : [];
  return (
    <>
      {read && model.useTime && (
        <RemovableChip
          className="jp-mod-time"
          label={period(read.since, read.until) || read.phrase}
          title={trans.__('Read from “%1”. Click to search without a time.', read.phrase)}
          onRemove={() => model.answers.setUseTime(false)}
        />
      )}
      {!model.useTime && isAsked && (
        <RemovableChip
          className="jp-mod-time"
          label={trans.__('time ignored')}
          title={trans.__('Click to use the time in the query again.')}
          onRemove={() => model.answers.setUseTime(true)}
        />
      )}
      {inWords.map(filter => (
        <RemovableChip
          key={filter}
          className="jp-mod-on"
          label={filter}
          title={trans.__('Found in the query. Click to remove it.')}
          onRemove={() => model.setQuery(withoutTypedFilter(model.query, filter))}
        />
      ))}
      {since && (
        <RemovableChip
          className="jp-mod-on"
          label={period(since, null)}
          title={trans.__('Click to search all dates.')}
          onRemove={() => model.answers.setSince(null)}
        />
      )}
      {(['path', 'space', 'session'] as (keyof IFilters)[]).flatMap(facet =>
        (filters[facet] ?? []).map(value => (
          <RemovableChip
            key={`${facet} ${value}`}
            className="jp-mod-on"
            label={facet === 'path' ? basename(value.replace(/[/*]+$/, '')) || value : value}
            title={trans.__('Only in %1. Click to search everywhere.', value)}
            onRemove={() => model.answers.setFilters(toggled(filters, facet, value))}
          />
        ))
      )}
    </>
  );
}

function RemovableChip(props: { className: string; label: string; title: string; onRemove(): void }): JSX.Element {
  const title = withMarks(props.title);
  return (
    <button
      type="button"
      className={`jp-Memory-chip ${props.className}`}
      title={title}
      aria-description={title}
      onClick={props.onRemove}
    >
      <bdi>{withMarks(props.label)}</bdi>
      <closeIcon.react tag="span" className="jp-Memory-chipIcon" />
    </button>
  );
}

function Kinds({ model, trans }: IChipsProps): JSX.Element | null {
  const kinds = facetValues(model.facets, model.filters, 'kind');
  const all = !model.filters.kind?.length;
  if (kinds.length < 2 && all) {
    return null;
  }
  return (
    <>
      <button
        type="button"
        className={all ? 'jp-Memory-chip jp-mod-on' : 'jp-Memory-chip'}
        aria-pressed={all}
        onClick={() => model.answers.setFilters(withValues(model.filters, 'kind', []))}
      >
        {trans.__('All')}
      </button>
      {kinds.map(kind => (
        <button
          key={kind.value}
          type="button"
          className={kind.on ? 'jp-Memory-chip jp-mod-on' : 'jp-Memory-chip'}
          aria-pressed={kind.on}
          onClick={() => model.answers.setFilters(toggled(model.filters, 'kind', kind.value))}
        >
          {kindName(kind.value, trans)} <span className="jp-Memory-count">{count(kind.count)}</span>
        </button>
      ))}
    </>
  );
}

interface IMenuProps {
  model: SearchModel;
  trans: TranslationBundle;
}

export interface IMenu<Name> {
  open: Name | null;
  toggle(name: Name): void;
  /** Close it and move the focus to its chip. */
  close(): void;
}

/** The one open menu among the chips: a click elsewhere or another query closes it. */
export function useMenu<Name>(box: RefObject<HTMLElement>, question: string): IMenu<Name> {
  const [open, setOpen] = useState<Name | null>(null);
  useEffect(() => {
    setOpen(null);
  }, [question]);
  useEffect(() => {
    const press = (event: Event): void => {
      if (!box.current?.contains(event.target as Node)) {
        setOpen(null);
      }
    };
    document.addEventListener('pointerdown', press, true);
    return () => document.removeEventListener('pointerdown', press, true);
  }, [box]);
  return {
    open,
    toggle: name => setOpen(open === name ? null : name),
    close: () => {
      box.current?.querySelector<HTMLElement>('[aria-expanded="true"]')?.focus();
      setOpen(null);
    }
  };
}

export function MenuChip(props: {
  label: string;
  chosen: number;
  isOpen: boolean;
  controls: string;
  onToggle(): void;
}): JSX.Element {
  const Caret = (props.isOpen ? caretUpIcon : caretDownIcon).react;
  return (
    <button
      type="button"
      className={props.chosen ? 'jp-Memory-chip jp-mod-on' : 'jp-Memory-chip'}
      aria-expanded={props.isOpen}
      aria-controls={props.isOpen ? props.controls : undefined}
      onClick={props.onToggle}
    >
      {props.label}
      {props.chosen > 0 && <span className="jp-Memory-count"> {count(props.chosen)}</span>}
      <Caret tag="span" className="jp-Memory-chipIcon" />
    </button>
  );
}

export function Values({ model, trans, facet }: IMenuProps & { facet: Facet }): JSX.Element {
  const labelOf = (value: string): string => (facet === 'tier' ? tierName(value, trans) : withMarks(value));
  return (
    <fieldset>
      <legend className="jp-Memory-sr">{facetName(facet, trans)}</legend>
      {facetValues(model.facets, model.filters, facet).map(one => (
        <label key={one.value} className="jp-Memory-choice">
          <input
            type="checkbox"
            checked={one.on}
            onChange={() => model.answers.setFilters(toggled(model.filters, facet, one.value))}
          />
          <bdi title={labelOf(one.value)}>{labelOf(one.value)}</bdi>
          <span className="jp-Memory-count">{count(one.count)}</span>
        </label>
      ))}
    </fieldset>
  );
}

export function Dates({ model, trans, onDone }: IMenuProps & { onDone(): void }): JSX.Element {
  const choices: [string, string | null][] = [
    [trans.__('Any time'), null],
    [trans.__('Today'), daysAgo(0)],
    [trans.__('Last 7 days'), daysAgo(7)],
    [trans.__('Last 30 days'), daysAgo(30)],
    [trans.__('Last 12 months'), daysAgo(365)]
  ];
  return (
    <fieldset>
      <legend className="jp-Memory-sr">{trans.__('Date')}</legend>
      {choices.map(([label, since]) => (
        <button
          key={label}
          type="button"
          className="jp-Memory-choice"
          aria-pressed={model.since === since}
          onClick={() => {
            model.answers.setSince(since);
            onDone();
          }}
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}
