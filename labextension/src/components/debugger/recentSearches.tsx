/** The recent searches, from the panel and from `%memsearch`: a click repeats one. */

import { Time } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { IRecent } from '../../api/types';
import type { DebuggerModel } from '../../models/debuggerModel';
import { withMarks } from '../shared/withMarks';

/** The setting that makes the server and the kernels log searches. */
const LOG_SETTING = 'c.JupyterMemory.log_searches = True';

interface IRecentSearchesProps {
  model: DebuggerModel;
  trans: TranslationBundle;
}

export function RecentSearches({ model, trans }: IRecentSearchesProps): React.JSX.Element {
  const { recent } = model;
  return (
    <section className="jp-Memory-recent" aria-labelledby="jp-Memory-recentTitle">
      <header>
        <h4 id="jp-Memory-recentTitle">{trans.__('Recent searches')}</h4>
        <button className="jp-Memory-link" onClick={() => void model.loadRecent()}>
          {trans.__('Refresh')}
        </button>
        {!!recent?.length && (
          <button className="jp-Memory-link" onClick={() => void model.clearRecent()}>
            {trans.__('Clear')}
          </button>
        )}
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
      <ul>
        {recent?.map(one => (
          <li key={one.query_id}>
            <Search recent={one} model={model} trans={trans} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Search({ recent, model, trans }: IRecentSearchesProps & { recent: IRecent }): React.JSX.Element {
  const at = new Date(recent.at);
  const isNow = recent.query_id === model.answer?.query_id;
  return (
    <button aria-current={isNow || undefined} title={trans.__('Search again')} onClick={() => model.run(recent)}>
      <span className="jp-Memory-query" dir="auto">
        {withMarks(recent.query)}
      </span>
      <span className="jp-Memory-dim">
        {origin(recent.origin, trans)}
        {recent.profile !== model.profile?.name && ` · ${recent.profile}`} ·{' '}
        {trans._n('%1 hit', '%1 hits', recent.hits)} ·{' '}
        <time dateTime={recent.at} title={Time.format(at)}>
          {Time.formatHuman(at)}
        </time>
      </span>
    </button>
  );
}

function origin(name: string, trans: TranslationBundle): string {
  switch (name) {
    case 'magic':
      return '%memsearch';
    case 'panel':
      return trans.__('panel');
    case 'command line':
      return trans.__('command line');
    default:
      return name;
  }
}
