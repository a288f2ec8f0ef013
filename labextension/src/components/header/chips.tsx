/** Where to search, and for what, as chips: what is on can be seen. */

import { caretDownIcon, caretUpIcon, filterIcon } from '@jupyterlab/ui-components';
import { type KeyboardEvent, type RefObject, useEffect, useId, useRef, useState } from 'react';

import type { IFilters } from '../../api/types';
import {
  type Facet,
  FACETS,
  facetValues,
  isFiltered,
  toggled,
  typedFilters,
  withoutTypedFilter
} from '../../models/filters';
import type { SearchModel } from '../../models/searchModel';
import { count, day, daysAgo, period } from '../shared/format';
import { basename, facetName, valueName } from '../shared/labels';
import { type IProps, RemovableChip } from '../shared/elements';
import { withMarks } from '../shared/text';

type Menu = Facet | 'date' | 'store';

/** The name of the own store on the list of stores. */
const OWN = 'own';

export function Chips({ model, trans }: IProps<SearchModel>): JSX.Element | null {
  const box = useRef<HTMLDivElement>(null);
  const { open, toggle, close, onKeyDown } = useMenu<Menu>(box, model.question.query);
  const [isWhole, setWhole] = useState(false);
  const id = useId();
  const stores = model.status?.stores ?? [];
  const menus = FACETS.filter(
    facet =>
      facetValues(model.facets, model.question.filters, facet).length > (model.question.filters[facet]?.length ? 0 : 1)
  );
  if (!model.answer && !isFiltered(model.question.filters) && stores.length < 2) {
    return null;
  }
  return (
    <div ref={box} className="jp-Memory-filters" role="group" aria-label={trans.__('Filters')} onKeyDown={onKeyDown}>
      <Scopes model={model} trans={trans} />
      <button
        className="jp-Memory-sign jp-Memory-filterSign"
        title={trans.__('More filters')}
        aria-label={trans.__('More filters')}
        aria-expanded={isWhole}
        onClick={() => setWhole(!isWhole)}
      >
        <filterIcon.react tag="span" />
      </button>
      <div
        className={isWhole ? 'jp-Memory-chips jp-mod-whole' : 'jp-Memory-chips'}
        onWheel={event => {
          // A wheel that turns up and down scrolls the line sideways.
          event.currentTarget.scrollLeft += event.deltaX ? 0 : event.deltaY;
        }}
      >
        {model.question.asOf && (
          <RemovableChip
            isTime
            label={trans.__('as of %1', day(`${model.question.asOf}T00:00`))}
            title={trans.__('Only what was stored by then. Click to search what is stored now.')}
            onRemove={() => model.answers.narrow({ asOf: null })}
          />
        )}
        {[
          ...(stores.length > 1 ? ['store' as const] : []),
          ...menus.slice(0, 2),
          'date' as const,
          ...menus.slice(2)
        ].map(name => {
          const { filters } = model.question;
          const chosen =
            name === 'date' ? 0 : ((name === 'store' ? model.question.stores : filters[name])?.length ?? 0);
          const isOn = chosen > 0 || (name === 'date' && model.question.since !== null);
          const Caret = (open === name ? caretUpIcon : caretDownIcon).react;
          return (
            <button
              key={name}
              type="button"
              className={isOn ? 'jp-Memory-chip jp-mod-menu jp-mod-on' : 'jp-Memory-chip jp-mod-menu'}
              aria-expanded={open === name}
              aria-controls={open === name ? id : undefined}
              onClick={() => toggle(name)}
            >
              {name === 'store'
                ? trans.__('Stores')
                : name !== 'date'
                  ? facetName(name, trans)
                  : model.question.since
                    ? period(model.question.since, null)
                    : trans.__('Date')}
              {chosen > 0 && <span className="jp-Memory-count"> {count(chosen)}</span>}
              <Caret tag="span" className="jp-Memory-chipIcon" />
            </button>
          );
        })}
        <Removable model={model} trans={trans} />
      </div>
      {open && (
        <div className="jp-Memory-menu" id={id}>
          {open === 'date' ? (
            <Dates model={model} trans={trans} onDone={close} />
          ) : open === 'store' ? (
            <Stores model={model} trans={trans} stores={stores} />
          ) : (
            <Values model={model} trans={trans} facet={open} />
          )}
        </div>
      )}
    </div>
  );
}

/** Where to search: one tab stop, in which the arrows choose. */
function Scopes({ model, trans }: IProps<SearchModel>): JSX.Element {
  const { answers } = model;
  const { scope } = model.question;
  const { notebook, folder } = answers.here;
  const last = scope?.what === 'notebook' ? scope.path : '.ipynb';
  const isNotebook = (notebook ?? last).endsWith('.ipynb');
  const choices = [
    { what: 'notebook', label: isNotebook ? trans.__('This notebook') : trans.__('This file'), path: notebook },
    { what: 'folder', label: trans.__('Folder'), path: folder },
    { what: null, label: trans.__('All'), path: '' }
  ] as const;
  const open = choices.filter(({ what, path }) => path !== null || what === scope?.what);
  return (
    <div
      className="jp-Memory-scopes"
      role="radiogroup"
      aria-label={trans.__('Where to search')}
      onKeyDown={event => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (step) {
          event.preventDefault();
          const at = open.findIndex(({ what }) => what === (scope?.what ?? null));
          const next = open[(at + step + open.length) % open.length];
          answers.setScope(next.what);
          event.currentTarget.querySelector<HTMLElement>(`[data-scope="${next.what}"]`)?.focus();
        }
      }}
    >
      {choices.map(({ what, label, path }) => {
        const isOn = what === (scope?.what ?? null);
        const place = isOn && scope ? scope.path : path;
        const title = what && trans.__('Only in %1', withMarks(place || '/'));
        return (
          <button
            key={label}
            type="button"
            role="radio"
            data-scope={what}
            className={isOn ? 'jp-Memory-chip jp-mod-on' : 'jp-Memory-chip'}
            aria-checked={isOn}
            aria-disabled={(path === null && !isOn) || undefined}
            tabIndex={isOn ? 0 : -1}
            title={place === null ? trans.__('No document is open') : (title ?? undefined)}
            onClick={() => answers.setScope(what)}
          >
            {label}
          </button>
        );
      })}
    </div>
  );
}

function Removable({ model, trans }: IProps<SearchModel>): JSX.Element {
  const { filters } = model.question;
  const isAsked = model.showing.what === 'search';
  const read = isAsked ? model.answer?.time_read : null;
  // Filters of the answered query that are still in the box: not those being typed, nor those just removed.
  const there = typedFilters(model.question.query);
  const inWords =
    isAsked && model.answer ? typedFilters(model.answers.request().query).filter(one => there.includes(one)) : [];
  return (
    <>
      {read && model.question.useTime && (
        <RemovableChip
          isTime
          label={period(read.since, read.until) || read.phrase}
          title={trans.__('Read from “%1”. Click to search without a time.', read.phrase)}
          onRemove={() => model.answers.narrow({ useTime: false })}
        />
      )}
      {!model.question.useTime && isAsked && (
        <RemovableChip
          isTime
          label={trans.__('time ignored')}
          title={trans.__('Click to use the time in the query again.')}
          onRemove={() => model.answers.narrow({ useTime: true })}
        />
      )}
      {inWords.map(filter => (
        <RemovableChip
          key={filter}
          label={filter}
          title={trans.__('Found in the query. Click to remove it.')}
          onRemove={() => model.answers.setQuery(withoutTypedFilter(model.question.query, filter))}
        />
      ))}
      {model.question.aboutTags.map(tag => (
        <RemovableChip
          key={`about ${tag}`}
          label={trans.__('in favour: %1', tag)}
          title={trans.__('Counts in favour where the profile reads tags. Click to remove it.')}
          onRemove={() => model.answers.narrow({ aboutTags: model.question.aboutTags.filter(one => one !== tag) })}
        />
      ))}
      {model.question.profile && (
        <RemovableChip
          label={trans.__('profile %1', model.question.profile)}
          title={trans.__('Ranked by this profile. Click for the usual order.')}
          onRemove={() => model.answers.narrow({ profile: '' })}
        />
      )}
      {(['path', 'space', 'session'] as (keyof IFilters)[]).flatMap(facet =>
        (filters[facet] ?? []).map(value => (
          <RemovableChip
            key={`${facet} ${value}`}
            label={facet === 'path' ? basename(value.replace(/[/*]+$/, '')) || value : value}
            title={trans.__('Only in %1. Click to search everywhere.', value)}
            onRemove={() => model.answers.narrow({ filters: toggled(filters, facet, value) })}
          />
        ))
      )}
    </>
  );
}

/** The one open menu among the chips: a click elsewhere or another query closes it. */
export function useMenu<Name>(
  box: RefObject<HTMLElement>,
  question: string
): { open: Name | null; toggle(name: Name): void; close(): void; onKeyDown(event: KeyboardEvent): void } {
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
  /** The focus moves to the chip of the menu. */
  const close = (): void => {
    box.current?.querySelector<HTMLElement>('[aria-controls][aria-expanded="true"]')?.focus();
    setOpen(null);
  };
  return {
    open,
    toggle: name => setOpen(open === name ? null : name),
    close,
    onKeyDown: event => {
      if (event.key === 'Escape' && open) {
        event.stopPropagation();
        close();
      }
    }
  };
}

function Values({ model, trans, facet }: IProps<SearchModel> & { facet: Facet }): JSX.Element {
  const labelOf = (value: string): string => valueName(facet, value, trans);
  return (
    <fieldset>
      <legend className="jp-Memory-sr">{facetName(facet, trans)}</legend>
      {facetValues(model.facets, model.question.filters, facet).map(one => (
        <label key={one.value} className="jp-Memory-choice">
          <input
            type="checkbox"
            checked={one.on}
            onChange={() => model.answers.narrow({ filters: toggled(model.question.filters, facet, one.value) })}
          />
          <bdi title={labelOf(one.value)}>{labelOf(one.value)}</bdi>
          <span className="jp-Memory-count">{count(one.count)}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Stores({ model, trans, stores }: IProps<SearchModel> & { stores: readonly string[] }): JSX.Element {
  const { stores: asked } = model.question;
  const chosen = asked.length ? asked : [OWN];
  const choose = (name: string): void => {
    const next = stores.filter(one => chosen.includes(one) !== (one === name));
    model.answers.narrow({ stores: next.length === 1 && next[0] === OWN ? [] : next });
  };
  return (
    <fieldset>
      <legend className="jp-Memory-sr">{trans.__('Stores')}</legend>
      {stores.map(name => (
        <label key={name} className="jp-Memory-choice">
          <input type="checkbox" checked={chosen.includes(name)} onChange={() => choose(name)} />
          <bdi>{name === OWN ? trans.__('own') : name}</bdi>
        </label>
      ))}
    </fieldset>
  );
}

function Dates({ model, trans, onDone }: IProps<SearchModel> & { onDone(): void }): JSX.Element {
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
          aria-pressed={model.question.since === since}
          onClick={() => {
            model.answers.narrow({ since });
            onDone();
          }}
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}
