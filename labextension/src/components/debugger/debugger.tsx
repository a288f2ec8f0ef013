/** The section of the panel that shows how an answer came about. */

import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { DebuggerModel, type DebuggerApi } from '../../models/debuggerModel';
import type { SearchModel } from '../../models/searchModel';
import type { ISection } from '../../tokens';
import { ErrorMessage } from '../shared/errorMessage';
import { KeepFocus } from '../shared/keepFocus';
import { Explanation } from './explanation';
import { ProfileSwitch } from './profileSwitch';
import { QueryFacts, Timings } from './queryFacts';
import { RankedLists } from './rankedLists';
import { RecentSearches } from './recentSearches';

interface IDebuggerOptions {
  model: SearchModel;
  api: DebuggerApi;
  trans: TranslationBundle;
}

/** Requests lists and explanations only while it can be seen. */
export function debuggerSection({ model: search, api, trans }: IDebuggerOptions): ISection {
  const model = new DebuggerModel(search, api);
  return {
    id: 'debugger',
    rank: 200,
    label: () => trans.__('Debugger'),
    caption: trans.__('How the answer came about'),
    className: 'jp-Memory-debugger',
    model,
    render: () => <Debugger model={model} trans={trans} />,
    dispose: () => model.dispose()
  };
}

interface IDebuggerProps {
  model: DebuggerModel;
  trans: TranslationBundle;
}

export function Debugger({ model, trans }: IDebuggerProps): React.JSX.Element {
  const { answer } = model;
  const body = React.useRef<HTMLDivElement>(null);
  return (
    <div className="jp-Memory-debuggerBody" ref={body} tabIndex={-1}>
      <KeepFocus fallback={() => body.current?.focus({ preventScroll: true })}>
        {model.problem && <ErrorMessage problem={model.problem} trans={trans} />}
        {answer ? (
          <>
            <QueryFacts answer={answer} useTime={model.search.useTime} trans={trans} />
            {answer.lists && (
              <RankedLists lists={answer.lists} chosen={model.chosen} onChoose={id => model.choose(id)} trans={trans} />
            )}
            <Explanation model={model} trans={trans} />
            <Timings answer={answer} trans={trans} />
          </>
        ) : (
          <p className="jp-Memory-dim">{trans.__('Search for something to see how its answer came about.')}</p>
        )}
        <ProfileSwitch model={model} trans={trans} />
        <RecentSearches model={model} trans={trans} />
      </KeepFocus>
    </div>
  );
}
