/** “Why this order”: what put the chosen result where it is, how the answer came about (behind Advanced), and recent searches. */

import { Time } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { HTMLSelect } from '@jupyterlab/ui-components';
import React, { useEffect, useRef, useState } from 'react';

import type { IAnswer, IRecent } from '../../api/types';
import { type DebuggerApi, DebuggerModel } from '../../models/debuggerModel';
import type { SearchModel } from '../../models/searchModel';
import type { ISection } from '../../tokens';
import { parseTags } from '../results/hitActions';
import { ErrorMessage, type IProps, KeepFocus, TextButton } from '../shared/elements';
import { count, milliseconds, percent, period } from '../shared/format';
import { classTexts, verdictTexts } from '../shared/labels';
import { withMarks } from '../shared/text';
import { Explanation, type IPicking } from './explanation';
import { RankedLists } from './rankedLists';

const LOG_SETTING = 'c.JupyterMemory.log_searches = True';

/** Characters of a program's name; it names itself, so it may be anything. */
const LONGEST_NAME = 40;

/** The tool of a program that searches; what others were called for is no question to repeat. */
const SEARCH_TOOL = 'memory_search';

/** Whose searches are listed: everybody's, a person's (''), or those of one program. */
type Who = string | null;

/** Requests lists and explanations only while it can be seen. */
export function debuggerSection(options: IProps<SearchModel> & IPicking & { api: DebuggerApi }): ISection {
  const { model: search, api, trans, pickFile } = options;
  const model = new DebuggerModel(search, api);
  return {
    id: 'debugger',
    rank: 200,
    label: () => trans.__('Why this order'),
    caption: trans.__('Why a result is where it is'),
    className: 'jp-Memory-debugger',
    model,
    render: () => <Debugger model={model} trans={trans} pickFile={pickFile} />,
    dispose: () => model.dispose()
  };
}

export function Debugger({ model, trans, pickFile }: IProps<DebuggerModel> & IPicking): React.JSX.Element {
  const { answer } = model;
  const body = React.useRef<HTMLDivElement>(null);
  return (
    <div className="jp-Memory-debuggerBody" ref={body} tabIndex={-1}>
      <KeepFocus fallback={() => body.current?.focus({ preventScroll: true })}>
        {model.problem && <ErrorMessage problem={model.problem} trans={trans} />}
        {answer ? (
          <Explanation model={model} trans={trans} pickFile={pickFile} />
        ) : (
          <p className="jp-Memory-dim">{trans.__('Search for something to see why its results are in this order.')}</p>
        )}
        <Advanced trans={trans}>
          {answer && <QueryFacts model={model} answer={answer} trans={trans} />}
          {answer?.lists && (
            <RankedLists lists={answer.lists} chosen={model.chosen} onChoose={id => model.choose(id)} trans={trans} />
          )}
          {answer && !answer.lists && model.search.answers.answeredQuestion.stores.length > 0 && (
            <p className="jp-Memory-dim">
              {trans.__('These are sums over the stores. Lists are shown where only your own store is searched.')}
            </p>
          )}
          {answer && <Timings answer={answer} trans={trans} />}
          <label className="jp-Memory-asOf">
            {trans.__('Only what was stored by')}
            <input
              type="date"
              value={model.search.question.asOf ?? ''}
              onChange={event => model.search.answers.narrow({ asOf: event.target.value || null })}
            />
          </label>
          <AboutTags model={model} trans={trans} />
          <ProfileSwitch model={model} trans={trans} />
        </Advanced>
        <RecentSearches model={model} trans={trans} />
      </KeepFocus>
    </div>
  );
}

const ADVANCED = 'jupyter-memory:advanced';

/** What few people need: folded, until it was opened in this session. */
function Advanced({ trans, children }: { trans: TranslationBundle; children: React.ReactNode }): React.JSX.Element {
  return (
    <details
      className="jp-Memory-advanced"
      ref={node => {
        if (node && sessionStorage.getItem(ADVANCED)) {
          node.open = true;
        }
      }}
      onToggle={event => sessionStorage.setItem(ADVANCED, event.currentTarget.open ? 'open' : '')}
    >
      <summary>{trans.__('Advanced')}</summary>
      {children}
    </details>
  );
}

function QueryFacts({ model, answer, trans }: IProps<DebuggerModel> & { answer: IAnswer }): React.JSX.Element {
  const { keyword, vector, fused } = answer.counts;
  const [label, length] = classTexts(answer.query_class, trans);
  return (
    <dl className="jp-Memory-facts" aria-label={trans.__('How the question was understood')}>
      <dt>{trans.__('Question')}</dt>
      <dd dir="auto">{withMarks(answer.query)}</dd>
      <dt>{trans.__('Class')}</dt>
      <dd title={length}>{label}</dd>
      <dt>{trans.__('Verdict')}</dt>
      <dd>
        {answer.verdict && <span className="jp-Memory-dot" data-verdict={answer.verdict} aria-hidden="true" />}
        {verdictText(answer, trans)}
      </dd>
      <dt>{trans.__('Time')}</dt>
      <dd>{timeRead(answer, model.search.question.useTime, trans)}</dd>
      <dt>{trans.__('Found')}</dt>
      <dd className="jp-Memory-counts">
        <span data-column="keyword">{trans.__('KW %1', count(keyword))}</span>
        <span data-column="vector">{trans.__('SEM %1', count(vector))}</span>
        <span data-column="fused">{trans.__('fused %1', count(fused))}</span>
      </dd>
    </dl>
  );
}

function verdictText({ verdict, strength }: IAnswer, trans: TranslationBundle): string {
  const sure = strength === null ? '' : ` · ${percent(strength)}`;
  return verdict ? verdictTexts(verdict, trans)[0] + sure : trans.__('not judged by this profile');
}

function timeRead(answer: IAnswer, useTime: boolean, trans: TranslationBundle): string {
  const read = answer.time_read;
  if (read) {
    return trans.__('“%1” read as %2', withMarks(read.phrase), period(read.since, read.until));
  }
  if (answer.time_range) {
    return period(...answer.time_range);
  }
  return useTime ? trans.__('none named') : trans.__('found in the words, but ignored');
}

function Timings({ answer, trans }: { answer: IAnswer; trans: TranslationBundle }): React.JSX.Element {
  const { total, ...stages } = answer.timings;
  const sum = Object.values(stages).reduce((all, one) => all + one, 0);
  const whole = Math.max(total ?? sum, sum) || 1;
  return (
    <div className="jp-Memory-timings">
      <div className="jp-Memory-stages" aria-hidden="true">
        {Object.entries(stages).map(([stage, ms]) => (
          <span key={stage} title={stage} style={{ width: `${(100 * ms) / whole}%` }} />
        ))}
      </div>
      <dl aria-label={trans.__('Milliseconds by stage')}>
        {[...Object.entries(stages), [trans.__('total'), total ?? sum] as const].map(([stage, ms]) => (
          <div key={stage}>
            <dt>{stage}</dt>
            <dd>{trans.__('%1 ms', milliseconds(ms))}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** Tags that count in favour, in the profiles that have a term for them. */
function AboutTags({ model, trans }: IProps<DebuggerModel>): React.JSX.Element | null {
  const { answers, question } = model.search;
  const readers = model.profiles.filter(one => one.terms.includes('tags')).map(one => one.name);
  const isRead = readers.includes(model.profile?.name ?? '');
  const line = question.aboutTags.join(', ');
  const input = useRef<HTMLInputElement>(null);
  const take = (): void => answers.narrow({ aboutTags: parseTags(input.current!.value) });
  useEffect(() => {
    if (input.current) {
      input.current.value = line;
    }
  }, [line, readers.length]);
  if (!readers.length) {
    return null;
  }
  return (
    <label className="jp-Memory-asOf jp-Memory-aboutTags">
      {trans.__('Tags in favour')}
      <input
        ref={input}
        dir="auto"
        disabled={!isRead && !line}
        placeholder={trans.__('Tags, with commas')}
        onBlur={take}
        onKeyDown={event => event.key === 'Enter' && take()}
      />
      {!isRead && <span className="jp-Memory-dim">{trans.__('count in the profile %1', readers.join(', '))}</span>}
    </label>
  );
}

function ProfileSwitch({ model, trans }: IProps<DebuggerModel>): React.JSX.Element | null {
  const { profile, profiles } = model;
  if (!profiles.length) {
    return null;
  }
  return (
    <section className="jp-Memory-profiles" aria-label={trans.__('Profile')}>
      <label>
        {trans.__('Profile')}
        <HTMLSelect value={profile?.name ?? ''} onChange={event => model.setProfile(event.target.value)}>
          {!profile && <option value="">{model.search.question.profile}</option>}
          {profiles.map(one => (
            <option key={one.name} value={one.name}>
              {one.default ? trans.__('%1 (default)', one.name) : one.name}
            </option>
          ))}
        </HTMLSelect>
      </label>
      {profile && (
        <>
          <p>{profile.summary}</p>
          <code className="jp-Memory-formula" dir="ltr" aria-label={trans.__('Formula of the score')}>
            {/* Lines break only between the terms of the sum, each with its sign. */}
            {profile.formula.split(/(?<= )(?=[+−-] (?![^(]*\)))/).map((term, i) => (
              <span key={i}>{term}</span>
            ))}
          </code>
        </>
      )}
    </section>
  );
}

/** The recent searches, of a person and of connected programs: a click repeats one. */
function RecentSearches({ model, trans }: IProps<DebuggerModel>): React.JSX.Element {
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
