/** What the search is narrowed to, and what it could be: chips with counts. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { caretDownIcon, caretUpIcon, closeIcon } from '@jupyterlab/ui-components';
import { useId, useState } from 'react';

import { daysAgo } from './dates';
import { counted, type Facet, FACETS, isFiltered, toggled, withValues } from './facets';
import { count, period } from './figures';
import type { SearchModel } from './model';
import { basename } from './naming';
import type { IFilters } from './types';

interface IChipsProps {
  model: SearchModel;
  trans: TranslationBundle;
}

type Open = Exclude<Facet, 'kind'> | 'date' | null;

export function Chips({ model, trans }: IChipsProps): JSX.Element | null {
  const [open, setOpen] = useState<Open>(null);
  const id = useId();
  const menus = FACETS.filter((facet): facet is Exclude<Facet, 'kind'> => facet !== 'kind').filter(
    facet => counted(model.facets, model.filters, facet).length > (model.filters[facet]?.length ? 0 : 1)
  );
  if (!model.answer && !isFiltered(model.filters)) {
    return null;
  }
  const toggle = (menu: Open): void => setOpen(open === menu ? null : menu);
  return (
    <div
      className="jp-Memory-filters"
      role="group"
      aria-label={trans.__('Filters')}
      onKeyDown={event => event.key === 'Escape' && setOpen(null)}
    >
      <div className="jp-Memory-chips">
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
            <Dates model={model} trans={trans} onDone={() => setOpen(null)} />
          ) : (
            <Values model={model} trans={trans} facet={open} />
          )}
        </div>
      )}
    </div>
  );
}

/** The time that was read, the day, the paths: each taken out with a click. */
function Removable({ model, trans }: IChipsProps): JSX.Element {
  const read = model.showing.what === 'search' ? model.answer?.time_read : null;
  const { filters, since } = model;
  return (
    <>
      {read && model.useTime && (
        <RemovableChip
          className="jp-mod-time"
          label={period(read.since, read.until) || read.phrase}
          title={trans.__('Read from “%1”. Click to search without a time.', read.phrase)}
          onRemove={() => model.setUseTime(false)}
        />
      )}
      {!model.useTime && (
        <RemovableChip
          className="jp-mod-time"
          label={trans.__('no time read')}
          title={trans.__('Click to read the time in the words again.')}
          onRemove={() => model.setUseTime(true)}
        />
      )}
      {since && (
        <RemovableChip
          className="jp-mod-on"
          label={period(since, null)}
          title={trans.__('Click to search at any time.')}
          onRemove={() => model.setSince(null)}
        />
      )}
      {(['path', 'space', 'session'] as (keyof IFilters)[]).flatMap(facet =>
        (filters[facet] ?? []).map(value => (
          <RemovableChip
            key={`${facet} ${value}`}
            className="jp-mod-on"
            label={facet === 'path' ? basename(value.replace(/[/*]+$/, '')) || value : value}
            title={trans.__('Only in %1. Click to search everywhere.', value)}
            onRemove={() => model.setFilters(toggled(filters, facet, value))}
          />
        ))
      )}
    </>
  );
}

function RemovableChip(props: { className: string; label: string; title: string; onRemove(): void }): JSX.Element {
  return (
    <button
      type="button"
      className={`jp-Memory-chip ${props.className}`}
      title={props.title}
      aria-description={props.title}
      onClick={props.onRemove}
    >
      <bdi>{props.label}</bdi>
      <closeIcon.react tag="span" className="jp-Memory-chipIcon" />
    </button>
  );
}

function Kinds({ model, trans }: IChipsProps): JSX.Element | null {
  const kinds = counted(model.facets, model.filters, 'kind');
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
        onClick={() => model.setFilters(withValues(model.filters, 'kind', []))}
      >
        {trans.__('All')}
      </button>
      {kinds.map(kind => (
        <button
          key={kind.value}
          type="button"
          className={kind.on ? 'jp-Memory-chip jp-mod-on' : 'jp-Memory-chip'}
          aria-pressed={kind.on}
          onClick={() => model.setFilters(toggled(model.filters, 'kind', kind.value))}
        >
          {kindName(kind.value, trans)} <span className="jp-Memory-count">{count(kind.count)}</span>
        </button>
      ))}
    </>
  );
}

function MenuChip(props: {
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

function Values({ model, trans, facet }: IChipsProps & { facet: Facet }): JSX.Element {
  return (
    <fieldset>
      <legend className="jp-Memory-sr">{facetName(facet, trans)}</legend>
      {counted(model.facets, model.filters, facet).map(one => (
        <label key={one.value} className="jp-Memory-choice">
          <input
            type="checkbox"
            checked={one.on}
            onChange={() => model.setFilters(toggled(model.filters, facet, one.value))}
          />
          <bdi>{facet === 'tier' ? tierName(one.value, trans) : one.value}</bdi>
          <span className="jp-Memory-count">{count(one.count)}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Dates({ model, trans, onDone }: IChipsProps & { onDone(): void }): JSX.Element {
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
        <label key={label} className="jp-Memory-choice">
          <input
            type="radio"
            name="jp-Memory-since"
            checked={model.since === since}
            onChange={() => {
              model.setSince(since);
              onDone();
            }}
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}

export function kindName(kind: string, trans: TranslationBundle): string {
  const known: Record<string, string> = {
    cell: trans.__('Cells'),
    note: trans.__('Notes'),
    file: trans.__('Files'),
    history: trans.__('History')
  };
  return Object.hasOwn(known, kind) ? known[kind] : kind;
}

function tierName(tier: string, trans: TranslationBundle): string {
  const known: Record<string, string> = {
    core: trans.__('pinned'),
    file: trans.__('from files'),
    mcp: trans.__('by an agent'),
    note: trans.__('notes')
  };
  return Object.hasOwn(known, tier) ? known[tier] : tier;
}

function facetName(facet: Facet, trans: TranslationBundle): string {
  const known: Record<Facet, string> = {
    kind: trans.__('Kind'),
    lang: trans.__('Language'),
    tier: trans.__('Tier'),
    tag: trans.__('Tag')
  };
  return known[facet];
}
