/** Why the chosen result is where it is, or why a cell or note is not in the answer. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { HTMLSelect } from '@jupyterlab/ui-components';
import React from 'react';

import type { DebuggerModel, IScoredHit } from '../../models/debuggerModel';
import { type IProps, TextButton } from '../shared/elements';
import { decimals, figure, rough, signed } from '../shared/format';
import { basename, hitNames, splitTitle, termTexts } from '../shared/labels';
import { withMarks } from '../shared/text';

export interface IPicking {
  /** Let a person pick a file; null if they cancel. */
  pickFile(): Promise<string | null>;
}

export function Explanation({ model, trans, pickFile }: IProps<DebuggerModel> & IPicking): React.JSX.Element {
  const section = React.useRef<HTMLElement>(null);
  // It is at the top: show that if it was requested in the results. A click within this section must not scroll.
  React.useEffect(() => {
    const frame = section.current?.closest<HTMLElement>('.jp-Memory-debugger');
    if (frame && !frame.contains(document.activeElement)) {
      frame.scrollTop = 0;
    }
  }, [model.chosen]);
  return (
    <section className="jp-Memory-explained" aria-label={trans.__('Why this rank')} ref={section}>
      {model.chosen !== null && <Chosen model={model} trans={trans} />}
      <Missing model={model} trans={trans} pickFile={pickFile} />
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

/** A cell or note that is missing is found by picking its file, then itself. */
function Missing({ model, trans, pickFile }: IProps<DebuggerModel> & IPicking): React.JSX.Element {
  const { candidates } = model;
  const pick = async (): Promise<void> => {
    const path = await pickFile();
    if (path !== null) {
      await model.lookIn(path);
    }
  };
  return (
    <div className="jp-Memory-form jp-Memory-missing" role="group" aria-label={trans.__('Why is another one missing?')}>
      <span className="jp-Memory-dim">{trans.__('Why is another one missing?')}</span>
      <TextButton look="link" label={trans.__('Pick its file…')} run={() => void pick()} />
      <TextButton look="link" label={trans.__('Pick a note…')} run={() => void model.lookIn(null)} />
      {candidates?.rows.length === 0 && (
        <p role="status">
          {candidates.path === null
            ? trans.__('There are no notes.')
            : trans.__('Nothing of %1 is indexed.', withMarks(candidates.path))}
        </p>
      )}
      {!!candidates?.rows.length && (
        <HTMLSelect
          aria-label={candidates.path === null ? trans.__('Note') : trans.__('Cell of %1', withMarks(candidates.path))}
          value={candidates.rows.find(one => one.hit.memory_id === model.chosen)?.hit.memory_id ?? ''}
          onChange={event => event.target.value && model.choose(event.target.value)}
        >
          <option value="">{candidates.path === null ? trans.__('Which note?') : basename(candidates.path)}</option>
          {candidates.rows.map(({ hit, place }) => {
            const { at, title } = hitNames(hit, place, trans);
            return (
              <option key={hit.memory_id} value={hit.memory_id}>
                {[hit.store, at, withMarks(place.begins.slice(0, 60)) || title].filter(Boolean).join(' · ')}
              </option>
            );
          })}
        </HTMLSelect>
      )}
    </div>
  );
}

export function Contributions(props: {
  scored: IScoredHit;
  terms: string[];
  trans: TranslationBundle;
}): React.JSX.Element {
  const { scored, terms, trans } = props;
  const { hit, without } = scored;
  const [isWhole, setWhole] = React.useState(false);
  const known = terms.filter(term => Object.hasOwn(hit.signals, term));
  const others = Object.keys(hit.signals).filter(name => !terms.includes(name));
  const rows = [...known, ...others].map(name => [name, hit.signals[name]] as const);
  const points = rows.map(([, seen]) => seen.contribution);
  const digits = decimals([...points, hit.score]);
  const sum = points.reduce((all, one) => all + one, 0);
  const adds = hit.score !== null && Math.abs(sum - hit.score) <= 1e-6 * Math.max(1, Math.abs(hit.score));
  const widest = Math.max(...points.map(Math.abs), Number.MIN_VALUE);
  const silent = points.filter(one => !one).length;
  const shown = rows
    .filter(([, seen]) => isWhole || seen.contribution)
    .sort(([, a], [, b]) => Math.abs(b.contribution) - Math.abs(a.contribution));
  return (
    <>
      <table className="jp-Memory-contributions">
        <caption title={withMarks(hit.title)}>
          <span className="jp-Memory-called">
            {trans.__(
              'Why rank %1: %2',
              hit.rank,
              withMarks(splitTitle(hit.title || hit.source || hit.memory_id).name)
            )}
          </span>
        </caption>
        <thead>
          <tr>
            <th scope="col">{trans.__('What counts')}</th>
            <th scope="col">{trans.__('What was seen')}</th>
            <th scope="col">{trans.__('Adds')}</th>
            <th scope="col">{trans.__('Without it')}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(([term, seen]) => (
            <tr key={term} data-signal={term} className={seen.contribution ? '' : 'jp-mod-silent'}>
              <th scope="row" title={[term, termTexts(term, trans)[1]].filter(Boolean).join(': ')}>
                {termTexts(term, trans)[0]}
              </th>
              <td title={seen.rank === null ? undefined : trans.__('rank %1 of all', seen.rank)}>
                {seen.value === null ? <NoValue trans={trans} /> : rough(seen.value)}
              </td>
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
            <th scope="row" colSpan={2}>
              {trans.__('Together')}
            </th>
            <td>{hit.score === null ? <NoValue trans={trans} /> : figure(hit.score, digits)}</td>
            <td className={adds ? 'jp-Memory-adds' : 'jp-Memory-off'}>
              {adds ? `✓ ${trans.__('the sum')}` : trans.__('not the sum, %1', figure(sum, digits))}
            </td>
          </tr>
        </tfoot>
      </table>
      {silent > 0 && (
        <button type="button" className="jp-Memory-link" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole
            ? trans.__('Only what counts')
            : trans._n('%1 signal that adds nothing', '%1 signals that add nothing', silent, silent)}
        </button>
      )}
    </>
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
