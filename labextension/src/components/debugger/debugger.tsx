/** “Why this order”: what put the chosen result where it is; how the answer came about is behind Advanced. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { HTMLSelect } from '@jupyterlab/ui-components';
import React from 'react';

import type { IAnswer } from '../../api/types';
import { type DebuggerApi, DebuggerModel } from '../../models/debuggerModel';
import type { SearchModel } from '../../models/searchModel';
import type { ISection } from '../../tokens';
import { ErrorMessage, type IProps, KeepFocus } from '../shared/elements';
import { count, milliseconds, percent, period } from '../shared/format';
import { classMeaning, classTitle, verdictTexts } from '../shared/labels';
import { withMarks } from '../shared/text';
import { Explanation, type IPicking } from './explanation';
import { RankedLists } from './rankedLists';
import { RecentSearches } from './recentSearches';

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
          {answer && <Timings answer={answer} trans={trans} />}
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
  return (
    <dl className="jp-Memory-facts" aria-label={trans.__('How the question was understood')}>
      <dt>{trans.__('Question')}</dt>
      <dd dir="auto">{withMarks(answer.query)}</dd>
      <dt>{trans.__('Class')}</dt>
      <dd title={classMeaning(answer.query_class, trans)}>{classTitle(answer.query_class, trans)}</dd>
      <dt>{trans.__('Verdict')}</dt>
      <dd>
        {answer.verdict && <span className="jp-Memory-dot" data-verdict={answer.verdict} aria-hidden="true" />}
        {verdictText(answer, trans)}
      </dd>
      <dt>{trans.__('Time')}</dt>
      <dd>{timeRead(answer, model.search.useTime, trans)}</dd>
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
          {!profile && <option value="">{model.search.profile}</option>}
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
