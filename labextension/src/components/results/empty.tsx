/** The message in place of results: why there are none, and what to do about it. */

import type { ReactNode } from 'react';

import { API, MISSING, UNREACHABLE } from '../../api/memoryApi';
import type { IJob } from '../../api/types';
import { FILTERS, typedFilters, withValues } from '../../models/filters';
import { isActive } from '../../models/indexModel';
import type { SearchModel } from '../../models/searchModel';
import { errorText, type IProps, TextButton } from '../shared/elements';
import { count, period } from '../shared/format';
import { basename, valueName } from '../shared/labels';
import { withMarks } from '../shared/text';

/** Commands to type, so never translated. */
const ENABLE = 'jupyter server extension enable jupyter_memory';
const INSTALL = 'pip install jupyter-memory';
const UPGRADE = 'pip install --upgrade jupyter-memory';

type EmptyReason = 'missing' | 'older' | 'newer' | 'unreachable' | 'refused' | 'indexing' | 'nothing' | 'no match';

/** Why there are no results; null if there are some, or they are loading. */
export function emptyReason(model: SearchModel): EmptyReason | null {
  const { status, problem, answer } = model;
  if (problem && !answer) {
    if (problem.reason === MISSING || problem.reason === UNREACHABLE) {
      return problem.reason === MISSING ? 'missing' : 'unreachable';
    }
    if (problem.status === 401 || problem.status === 403) {
      return 'refused';
    }
  }
  if (status && status.api !== API) {
    return status.api < API ? 'older' : 'newer';
  }
  if (model.hits.length || model.isLoading || problem?.status === 400) {
    return null;
  }
  if (status?.store.memories === 0 && !model.question.stores.length) {
    return activeJob(model) ? 'indexing' : 'nothing';
  }
  return answer && !model.undo.waiting.length ? 'no match' : null;
}

function activeJob(model: SearchModel): IJob | undefined {
  return model.status?.jobs.find(job => isActive(job) && !job.model);
}

interface IEmptyProps extends IProps<SearchModel> {
  onIndex(path: string): void;
  onRetry(): void;
}

export function Empty(props: IEmptyProps): JSX.Element | null {
  const { model, trans } = props;
  const reason = emptyReason(model);
  switch (reason) {
    case null:
      return null;
    case 'indexing':
      return <Indexing model={model} trans={trans} />;
    case 'nothing':
      return (
        <Message title={trans.__('Nothing is remembered yet')}>
          <p>
            {trans.__('Index the folder that this Lab shows to search its notebooks, code and notes here.')}{' '}
            {trans.__('Everything stays on this computer.')}
          </p>
          <button type="button" className="jp-mod-styled jp-mod-accept" onClick={() => props.onIndex('')}>
            {trans.__('Index this folder')}
          </button>
        </Message>
      );
    case 'no match':
      return <NoMatch model={model} trans={trans} />;
  }
  const [title, ...lines] = {
    missing: [
      trans.__('The server extension is missing'),
      trans.__('Jupyter runs without the server extension of jupyter-memory. In a terminal, type'),
      ENABLE,
      trans.__('and start Jupyter again. If it is not installed there at all, type this first:'),
      INSTALL
    ],
    older: [
      trans.__('The server extension is older than this panel'),
      trans.__('In a terminal, type'),
      UPGRADE,
      trans.__('and start Jupyter again.')
    ],
    newer: [
      trans.__('This panel is older than the server extension'),
      trans.__('Load this page again. If that does not help, type in a terminal'),
      UPGRADE
    ],
    unreachable: [
      trans.__('The Jupyter server does not answer'),
      trans.__('It may have been stopped, or the network is down.')
    ],
    refused: [trans.__('You are not allowed to read this memory'), model.problem ? errorText(model.problem, trans) : '']
  }[reason];
  return (
    <Message title={title}>
      {lines.map(line =>
        [ENABLE, INSTALL, UPGRADE].includes(line) ? (
          <pre key={line} className="jp-Memory-typed" dir="ltr">
            {line}
          </pre>
        ) : (
          <p key={line}>{line}</p>
        )
      )}
      <button type="button" className="jp-mod-styled" onClick={props.onRetry}>
        {trans.__('Retry')}
      </button>
    </Message>
  );
}

function Indexing({ model, trans }: IProps<SearchModel>): JSX.Element {
  const { done, total } = activeJob(model) ?? { done: 0, total: null };
  const progress = total === null ? count(done) : trans.__('%1 of %2', count(done), count(total));
  return (
    <Message title={trans.__('Indexing')}>
      <progress aria-label={trans.__('Indexing')} max={total ?? undefined} value={total === null ? undefined : done} />
      <p>
        {trans.__(
          '%1 files read. They are stored in batches; you can search as soon as the first batch is stored.',
          progress
        )}
      </p>
    </Message>
  );
}

function NoMatch({ model, trans }: IProps<SearchModel>): JSX.Element {
  const { answer, answers } = model;
  return (
    <Message title={trans.__('No match')}>
      <ul>
        {typedFilters(model.question.query).length > 0 && <li>{trans.__('Remove the filter from the query')}</li>}
        {model.question.scope && (
          <Hint
            text={trans.__('Only in %1: search everywhere', withMarks(basename(model.question.scope.path)))}
            run={() => answers.setScope(null)}
          />
        )}
        {FILTERS.filter(facet => model.question.filters[facet]?.length).map(facet => {
          const values = model.question.filters[facet]!.map(value => valueName(facet, value, trans)).join(', ');
          const lift = (): void => answers.narrow({ filters: withValues(model.question.filters, facet, []) });
          return <Hint key={facet} text={trans.__('Only %1: search all', values)} run={lift} />;
        })}
        {model.question.stores.length > 0 && (
          <Hint
            text={trans.__('Only in %1: search every store', model.question.stores.join(', '))}
            run={() => answers.narrow({ stores: model.status?.stores ?? [] })}
          />
        )}
        {model.question.since && (
          <Hint
            text={trans.__('Only %1: search all dates', period(model.question.since, null))}
            run={() => answers.narrow({ since: null })}
          />
        )}
        {model.question.asOf && (
          <Hint text={trans.__('Search what is stored now')} run={() => answers.narrow({ asOf: null })} />
        )}
        {model.question.useTime && answer?.time_read && (
          <Hint text={trans.__('Ignore the time in the query')} run={() => answers.narrow({ useTime: false })} />
        )}
        {model.showing.what === 'search' && (
          <li>
            {answer?.query_class === 'keyword'
              ? trans.__('Try other words, or more of them')
              : trans.__('Try other words, or fewer')}
          </li>
        )}
        {activeJob(model) && <li>{trans.__('Files are still being indexed: there may be more soon')}</li>}
      </ul>
    </Message>
  );
}

/** Of an answer that finds nothing in one place: that it may lie elsewhere. */
export function Elsewhere({ model, trans }: IProps<SearchModel>): JSX.Element | null {
  const { answer, hits } = model;
  const { scope } = model.question;
  if (!scope || answer?.verdict !== 'none' || !hits.length) {
    return null;
  }
  const place = withMarks(basename(scope.path));
  return (
    <div className="jp-Memory-notices">
      {trans.__('No cell or note here is about this. It may lie outside of %1.', place)}{' '}
      <TextButton look="action" label={trans.__('Search everywhere')} run={() => model.answers.setScope(null)} />
    </div>
  );
}

function Hint({ text, run }: { text: string; run(): void }): JSX.Element {
  return (
    <li>
      <TextButton look="action" label={text} run={run} />
    </li>
  );
}

function Message({ title, children }: { title: string; children: ReactNode }): JSX.Element {
  return (
    // It scrolls in a short section, so it must be reachable by keyboard.
    <div className="jp-Memory-empty" role="group" aria-label={title} tabIndex={0}>
      <h3>{title}</h3>
      {children}
    </div>
  );
}
