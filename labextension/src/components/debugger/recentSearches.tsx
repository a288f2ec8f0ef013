/** The recent searches, of a person and of connected programs: a click repeats one. */

import { Time } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import React, { useState } from 'react';

import type { IRecent } from '../../api/types';
import type { DebuggerModel } from '../../models/debuggerModel';
import { type IProps, TextButton } from '../shared/elements';
import { withMarks } from '../shared/text';

const LOG_SETTING = 'c.JupyterMemory.log_searches = True';

/** Characters of a program's name; it names itself, so it may be anything. */
const LONGEST_NAME = 40;

/** The tool of a program that searches; what others were called for is no question to repeat. */
const SEARCH_TOOL = 'memory_search';

/** Whose searches are listed: everybody's, a person's (''), or those of one program. */
type Who = string | null;

export function RecentSearches({ model, trans }: IProps<DebuggerModel>): React.JSX.Element {
  const { recent } = model;
  const [chosen, setWho] = useState<Who>(null);
  const clients = [...new Set(recent?.map(one => one.client).filter(client => client))].sort();
  // The searches of a program may have been cleared since it was chosen.
  const who = chosen && !clients.includes(chosen) ? null : chosen;
  return (
    <section className="jp-Memory-recent" aria-labelledby="jp-Memory-recentTitle">
      <header>
        <h4 id="jp-Memory-recentTitle">{trans.__('Recent searches')}</h4>
        <TextButton look="link" label={trans.__('Refresh')} run={() => void model.loadRecent()} />
        {!!recent?.length && <TextButton look="link" label={trans.__('Clear')} run={() => void model.clearRecent()} />}
      </header>
      {model.search.status?.log_searches === false && (
        <p className="jp-Memory-dim">
          {trans.__(
            'Searches are not logged: the setting is off. To log them, put this into jupyter_memory_config.py:'
          )}{' '}
          <code dir="ltr">{LOG_SETTING}</code>
        </p>
      )}
      {recent?.length === 0 && model.search.status?.log_searches !== false && (
        <p className="jp-Memory-dim">{trans.__('None yet. Searches by %memsearch are listed here too.')}</p>
      )}
      {clients.length > 0 && <WhoSearched who={who} clients={clients} trans={trans} onChoose={setWho} />}
      <ul>
        {recent
          ?.filter(one => who === null || one.client === who)
          .map(one => (
            <li key={one.query_id}>
              <Search recent={one} model={model} trans={trans} />
            </li>
          ))}
      </ul>
    </section>
  );
}

function WhoSearched(props: {
  who: Who;
  clients: readonly string[];
  trans: TranslationBundle;
  onChoose(who: Who): void;
}): React.JSX.Element {
  const { who, clients, trans } = props;
  const places: Who[] = [null, '', ...clients];
  return (
    <select
      className="jp-Memory-who"
      aria-label={trans.__('Whose searches')}
      value={places.indexOf(who)}
      onChange={event => props.onChoose(places[Number(event.target.value)])}
    >
      <option value={0}>{trans.__('all searches')}</option>
      <option value={1}>{trans.__('yours')}</option>
      {clients.map((client, i) => (
        <option key={client} value={i + 2}>
          {byClient(client, trans)}
        </option>
      ))}
    </select>
  );
}

function Search({ recent, model, trans }: IProps<DebuggerModel> & { recent: IRecent }): React.JSX.Element {
  const at = new Date(recent.at);
  const isNow = recent.query_id === model.answer?.query_id;
  const isSearch = !recent.client || recent.tool === SEARCH_TOOL;
  const profile = recent.profile && recent.profile !== model.profile?.name ? ` · ${withMarks(recent.profile)}` : '';
  return (
    <button
      aria-current={isNow || undefined}
      title={isSearch ? trans.__('Search again') : trans.__('Search for this')}
      onClick={() => model.run(recent)}
    >
      <span className="jp-Memory-query" dir="auto">
        {withMarks(recent.query)}
      </span>
      <span className="jp-Memory-dim">
        <bdi>{recent.client ? byClient(recent.client, trans) : origin(recent.origin, trans)}</bdi>
        {recent.tool && ` · ${withMarks(recent.tool)}`}
        {profile} · {trans._n('%1 hit', '%1 hits', recent.hits)} ·{' '}
        <time dateTime={recent.at} title={Time.format(at)}>
          {Time.formatHuman(at)}
        </time>
      </span>
    </button>
  );
}

function byClient(name: string, trans: TranslationBundle): string {
  const letters = [...withMarks(name.replace(/\s+/g, ' ').trim())];
  const cut = letters.length > LONGEST_NAME ? `${letters.slice(0, LONGEST_NAME - 1).join('')}…` : letters.join('');
  return trans.__('by %1', cut);
}

function origin(name: string, trans: TranslationBundle): string {
  const known = { magic: '%memsearch', panel: trans.__('panel'), 'command line': trans.__('command line') };
  return Object.hasOwn(known, name) ? known[name as keyof typeof known] : name;
}
