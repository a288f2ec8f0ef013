/** Why the chosen memory has its rank, or why it is not in the answer. */

import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { DebuggerModel, IScoredHit } from '../../models/debuggerModel';
import type { IProps } from '../shared/elements';
import { decimals, figure, rough, signed } from '../shared/format';
import { splitTitle, termTexts } from '../shared/labels';
import { withMarks } from '../shared/text';

export function Explanation({ model, trans }: IProps<DebuggerModel>): React.JSX.Element {
  const section = React.useRef<HTMLElement>(null);
  // Scroll here if it was requested in the results. A click within the debugger must not scroll.
  React.useEffect(() => {
    const frame = section.current?.closest<HTMLElement>('.jp-Memory-debugger');
    if (section.current && frame && !frame.contains(document.activeElement)) {
      const [inner, outer] = [section.current.getBoundingClientRect(), frame.getBoundingClientRect()];
      const isSeen = inner.top >= outer.top && inner.bottom <= outer.bottom;
      frame.scrollTop += isSeen ? 0 : inner.top - outer.top;
    }
  }, [model.chosen]);
  return (
    <section className="jp-Memory-explained" aria-label={trans.__('Why this rank')} ref={section}>
      {model.chosen ? (
        <Chosen model={model} trans={trans} />
      ) : (
        <p className="jp-Memory-dim">{trans.__('Pick a memory above, or a result, to see why it has its rank.')}</p>
      )}
      <AskById model={model} trans={trans} />
    </section>
  );
}

function Chosen({ model, trans }: IProps<DebuggerModel>): React.JSX.Element {
  const { scoredHit, explanation, answer, chosen } = model;
  const isHit = answer?.hits.some(hit => hit.memory_id === chosen) ?? false;
  return (
    <>
      {scoredHit && answer && (
        <div className="jp-Memory-scroll" role="group" aria-label={trans.__('Contributions')} tabIndex={0}>
          <Contributions scored={scoredHit} terms={answer.terms} trans={trans} />
        </div>
      )}
      {isHit ? (
        <details onToggle={event => event.currentTarget.open && !explanation && void model.explain()}>
          <summary>{trans.__('In words')}</summary>
          <Reasons model={model} trans={trans} />
        </details>
      ) : (
        <>
          {!scoredHit && <h4>{trans.__('Why not: %1', withMarks(model.titleOf(chosen!)))}</h4>}
          <Reasons model={model} trans={trans} />
        </>
      )}
    </>
  );
}

function Reasons({ model, trans }: IProps<DebuggerModel>): React.JSX.Element {
  return (
    <div role="status">
      {model.isExplaining && <p className="jp-Memory-dim">{trans.__('Asking…')}</p>}
      {model.explanation && <Sentences reasons={model.explanation.reasons} />}
      {model.explanation && model.explanation.details.length > model.explanation.reasons.length && (
        <details className="jp-Memory-details">
          <summary>{trans.__('All reasons')}</summary>
          <Sentences reasons={model.explanation.details} />
        </details>
      )}
    </div>
  );
}

function Sentences({ reasons }: { reasons: readonly string[] }): React.JSX.Element {
  return (
    <ul className="jp-Memory-reasons">
      {reasons.map(reason => (
        <li key={reason}>{withMarks(reason)}</li>
      ))}
    </ul>
  );
}

function AskById({ model, trans }: IProps<DebuggerModel>): React.JSX.Element {
  const [id, setId] = React.useState('');
  const ask = (event: React.FormEvent): void => {
    event.preventDefault();
    if (id.trim()) {
      model.choose(id.trim());
    }
  };
  return (
    <form className="jp-Memory-form" onSubmit={ask}>
      <label>
        {trans.__('Why is another memory missing? Its id:')}
        <input
          className="jp-mod-styled"
          value={id}
          onChange={event => setId(event.target.value)}
          placeholder={trans.__('such as 6842380cc55f110b')}
          spellCheck={false}
          autoComplete="off"
        />
      </label>
      <button className="jp-Memory-button" type="submit" disabled={!id.trim() || !model.answer}>
        {trans.__('Explain')}
      </button>
    </form>
  );
}

export function Contributions(props: {
  scored: IScoredHit;
  terms: string[];
  trans: TranslationBundle;
}): React.JSX.Element {
  const { scored, terms, trans } = props;
  const { hit, without } = scored;
  const known = terms.filter(term => Object.hasOwn(hit.signals, term));
  const others = Object.keys(hit.signals).filter(name => !terms.includes(name));
  const rows = [...known, ...others].map(name => [name, hit.signals[name]] as const);
  const points = rows.map(([, seen]) => seen.contribution);
  const digits = decimals([...points, hit.score]);
  const sum = points.reduce((all, one) => all + one, 0);
  const adds = hit.score !== null && Math.abs(sum - hit.score) <= 1e-6 * Math.max(1, Math.abs(hit.score));
  const widest = Math.max(...points.map(Math.abs), Number.MIN_VALUE);
  return (
    <table className="jp-Memory-contributions">
      <caption title={withMarks(hit.title)}>
        <span className="jp-Memory-called">
          {trans.__('Why rank %1: %2', hit.rank, withMarks(splitTitle(hit.title || hit.source || hit.memory_id).name))}
        </span>
      </caption>
      <thead>
        <tr>
          <th scope="col">{trans.__('Signal')}</th>
          <th scope="col">{trans.__('Value')}</th>
          <th scope="col">{trans.__('Rank')}</th>
          <th scope="col">{trans.__('Contribution')}</th>
          <th scope="col">{trans.__('Rank without it')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([term, seen]) => (
          <tr key={term} className={seen.contribution ? '' : 'jp-mod-silent'}>
            <th scope="row" title={termTexts(term, trans)[1]}>
              {termTexts(term, trans)[0]}
            </th>
            <td>{seen.value === null ? <NoValue trans={trans} /> : rough(seen.value)}</td>
            <td>{seen.rank ?? <NoValue trans={trans} />}</td>
            <td>
              <span className="jp-Memory-contribution">
                <span className="jp-Memory-termBar" data-term={term} aria-hidden="true">
                  {!!seen.contribution && (
                    <span
                      className={seen.contribution < 0 ? 'jp-mod-against' : ''}
                      style={{ width: `${(100 * Math.abs(seen.contribution)) / widest}%` }}
                    />
                  )}
                </span>
                <span dir="ltr">{signed(seen.contribution, digits)}</span>
              </span>
            </td>
            <td>
              <RankWithout rank={hit.rank} without={without[term]} trans={trans} />
            </td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row" colSpan={3}>
            {trans.__('Score')}
          </th>
          <td>{hit.score === null ? <NoValue trans={trans} /> : figure(hit.score, digits)}</td>
          <td className={adds ? 'jp-Memory-adds' : 'jp-Memory-off'}>
            {adds ? `✓ ${trans.__('the sum')}` : trans.__('not the sum, %1', figure(sum, digits))}
          </td>
        </tr>
      </tfoot>
    </table>
  );
}

function RankWithout(props: { rank: number; without?: number; trans: TranslationBundle }): React.JSX.Element {
  const { rank, without, trans } = props;
  if (without === undefined) {
    return <NoValue trans={trans} />;
  }
  const worse = without - rank;
  if (!worse) {
    return <>{without}</>;
  }
  const difference =
    worse > 0
      ? trans._n('%1 place worse', '%1 places worse', worse)
      : trans._n('%1 place better', '%1 places better', -worse);
  return (
    <span title={difference}>
      {without}{' '}
      <span className={worse > 0 ? 'jp-Memory-worse' : 'jp-Memory-better'} aria-hidden="true">
        {worse > 0 ? '▼' : '▲'}
        {Math.abs(worse)}
      </span>
      <span className="jp-Memory-sr">{`, ${difference}`}</span>
    </span>
  );
}

function NoValue({ trans }: { trans: TranslationBundle }): React.JSX.Element {
  return (
    <>
      <span aria-hidden="true">–</span>
      <span className="jp-Memory-sr">{trans.__('none')}</span>
    </>
  );
}
