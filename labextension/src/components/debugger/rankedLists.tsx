/** The keyword, semantic and fused lists side by side; the memory under the pointer is highlighted in all of them. */

import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { IListed, ILists } from '../../api/types';
import { compact, count, decimals } from '../shared/format';
import { splitTitle } from '../shared/labels';
import { withMarks } from '../shared/text';

const FIRST_ROWS = 10;

/** Rows of a list in a narrow panel: see rankedLists.css. */
const NARROW_ROWS = 5;

type Column = 'keyword' | 'vector' | 'fused';

const COLUMNS: readonly Column[] = ['keyword', 'vector', 'fused'];

interface IRankedListsProps {
  lists: ILists;
  chosen: string | null;
  onChoose: (id: string) => void;
  trans: TranslationBundle;
}

/** Three tables, each one tab stop: Up and Down move within a list, Left and Right between them. */
export function RankedLists({ lists, chosen, onChoose, trans }: IRankedListsProps): React.JSX.Element {
  const [pointed, setPointed] = React.useState<string | null>(null);
  const [isWhole, setWhole] = React.useState(false);
  const longest = Math.max(...COLUMNS.map(column => lists[column].length));
  const shown = isWhole ? longest : FIRST_ROWS;
  return (
    <div className="jp-Memory-listsFrame">
      <div className="jp-Memory-lists" onMouseLeave={() => setPointed(null)}>
        {COLUMNS.map(column => (
          <List
            key={column}
            {...{ column, chosen, isWhole, pointed, onChoose, trans }}
            all={lists[column]}
            rows={lists[column].filter((one, i) => i < shown || one.memory_id === chosen)}
            onPoint={setPointed}
          />
        ))}
      </div>
      {longest > NARROW_ROWS && (
        <button
          className={longest > FIRST_ROWS ? 'jp-Memory-link' : 'jp-Memory-link jp-mod-narrow'}
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? trans.__('Show fewer') : trans.__('Show all %1', count(longest))}
        </button>
      )}
    </div>
  );
}

interface IListProps extends Omit<IRankedListsProps, 'lists'> {
  column: Column;
  all: IListed[];
  rows: IListed[];
  isWhole: boolean;
  pointed: string | null;
  onPoint: (id: string | null) => void;
}

function List(props: IListProps): React.JSX.Element {
  const { column, all, rows, chosen, isWhole, pointed, onPoint, trans } = props;
  const [name, unit] = {
    keyword: [trans.__('Keyword'), trans.__('BM25')],
    vector: [trans.__('Semantic'), trans.__('cosine')],
    fused: [trans.__('Fused'), trans.__('score')]
  }[column];
  const digits = decimals(all.map(one => one.score));
  const isTwin = (one: IListed): boolean => all.some(other => other !== one && other.title === one.title);
  const stop = rows.find(one => one.memory_id === (pointed ?? chosen)) ?? rows[0];
  return (
    <table className={`jp-Memory-ranked ${isWhole ? 'jp-mod-whole' : ''}`} data-column={column} onKeyDown={move}>
      <caption>
        {name} <span className="jp-Memory-dim">{count(all.length)}</span>
      </caption>
      <thead>
        <tr>
          <th scope="col">#</th>
          <th scope="col">{trans.__('Title')}</th>
          <th scope="col">{unit}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((one, i) => (
          <tr
            key={one.memory_id}
            data-memory={one.memory_id}
            className={[
              one.memory_id === chosen && 'jp-mod-selected',
              one.memory_id === pointed && 'jp-mod-pointed',
              i >= FIRST_ROWS && one.rank > rows[i - 1].rank + 1 && 'jp-mod-far'
            ]
              .filter(Boolean)
              .join(' ')}
            onMouseEnter={() => onPoint(one.memory_id)}
            onClick={() => props.onChoose(one.memory_id)}
          >
            <td>{one.rank}</td>
            <td>
              <button
                className={isTwin(one) ? 'jp-mod-twin' : undefined}
                title={withMarks([one.title || one.memory_id, one.begins].filter(Boolean).join('\n'))}
                tabIndex={one === stop ? 0 : -1}
                aria-current={one.memory_id === chosen || undefined}
                onFocus={() => onPoint(one.memory_id)}
                onBlur={() => onPoint(null)}
              >
                <Title listed={one} isAlone={!isTwin(one)} />
              </button>
            </td>
            <td>{compact(one.score, digits)}</td>
          </tr>
        ))}
        {!rows.length && (
          <tr>
            <td colSpan={3} className="jp-Memory-dim">
              {trans.__('Found nothing')}
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function Title({ listed, isAlone }: { listed: IListed; isAlone: boolean }): React.JSX.Element {
  const { name, file } = splitTitle(listed.title || listed.memory_id);
  const more = isAlone ? file : listed.begins;
  return (
    <>
      <bdi>{withMarks(name)}</bdi>
      {more && <bdi className="jp-Memory-dim">{withMarks(more)}</bdi>}
    </>
  );
}

function move(event: React.KeyboardEvent<HTMLTableElement>): void {
  const row = (event.target as HTMLElement).closest('tr');
  const target = row && targetOf(event.key, row, event.currentTarget);
  const button = target?.querySelector('button');
  if (button) {
    event.preventDefault();
    button.focus();
  }
}

function targetOf(key: string, row: HTMLTableRowElement, table: HTMLTableElement): Element | undefined {
  const rows = rowsOf(table);
  const at = rows.indexOf(row);
  switch (key) {
    case 'ArrowDown':
      return rows[at + 1];
    case 'ArrowUp':
      return rows[at - 1];
    case 'Home':
      return rows[0];
    case 'End':
      return rows[rows.length - 1];
    case 'ArrowRight':
      return neighbourRow(row, table.nextElementSibling);
    case 'ArrowLeft':
      return neighbourRow(row, table.previousElementSibling);
    default:
      return undefined;
  }
}

function rowsOf(table: Element | null): HTMLTableRowElement[] {
  const rows = [...(table?.querySelectorAll<HTMLTableRowElement>('tbody tr') ?? [])];
  return rows.filter(row => row.checkVisibility?.() ?? true);
}

function neighbourRow(row: HTMLTableRowElement, other: Element | null): Element | undefined {
  const rows = rowsOf(other);
  const same = rows.find(one => one.dataset.memory === row.dataset.memory);
  return same ?? rows[Math.min(row.sectionRowIndex, rows.length - 1)];
}
