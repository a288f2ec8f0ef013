/** The menus behind chips: the values of a facet, and how far back to search. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { caretDownIcon, caretUpIcon } from '@jupyterlab/ui-components';
import { type RefObject, useEffect, useState } from 'react';

import { facetValues } from '../../models/facetCounts';
import { type Facet, toggled } from '../../models/filters';
import type { SearchModel } from '../../models/searchModel';
import { count, daysAgo } from '../shared/format';
import { facetName, tierName } from '../shared/labels';
import { withMarks } from '../shared/withMarks';

interface IMenuProps {
  model: SearchModel;
  trans: TranslationBundle;
}

export interface IMenu<Name> {
  /** The menu that is open, or null. */
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

/** A chip that opens a menu. */
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

/** The values of a facet with their counts; several can be chosen. */
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

/** How far back to search; one can be chosen. */
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
