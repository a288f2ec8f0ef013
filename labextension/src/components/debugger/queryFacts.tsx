/** How the server understood a query: its class, verdict and time, and how much each retriever found. */

import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { IAnswer } from '../../api/types';
import { count, milliseconds, percent, period } from '../shared/format';
import { classMeaning, classTitle } from '../shared/labels';
import { withMarks } from '../shared/withMarks';

interface IQueryFactsProps {
  answer: IAnswer;
  /** Whether a time in the words is used as a filter. */
  useTime: boolean;
  trans: TranslationBundle;
}

export function QueryFacts({ answer, useTime, trans }: IQueryFactsProps): React.JSX.Element {
  const { keyword, vector, fused } = answer.counts;
  return (
    <dl className="jp-Memory-facts" aria-label={trans.__('How the question was understood')}>
      <dt>{trans.__('Question')}</dt>
      <dd dir="auto">{withMarks(answer.query)}</dd>
      <dt>{trans.__('Class')}</dt>
      <dd title={classMeaning(answer.query_class, trans)}>{classTitle(answer.query_class, trans)}</dd>
      <dt>{trans.__('Verdict')}</dt>
      <dd>
        <Verdict answer={answer} trans={trans} />
      </dd>
      <dt>{trans.__('Time')}</dt>
      <dd>{timeRead(answer, useTime, trans)}</dd>
      <dt>{trans.__('Found')}</dt>
      <dd className="jp-Memory-counts">
        <span data-column="keyword">{trans.__('KW %1', count(keyword))}</span>
        <span data-column="vector">{trans.__('SEM %1', count(vector))}</span>
        <span data-column="fused">{trans.__('fused %1', count(fused))}</span>
      </dd>
    </dl>
  );
}

function Verdict({ answer, trans }: { answer: IAnswer; trans: TranslationBundle }): React.JSX.Element {
  const { verdict, strength } = answer;
  const sure = strength === null ? '' : ` · ${percent(strength)}`;
  switch (verdict) {
    case 'strong':
      return <DottedLabel verdict="strong">{trans.__('strong') + sure}</DottedLabel>;
    case 'weak':
      return <DottedLabel verdict="weak">{trans.__('weak: read it with care') + sure}</DottedLabel>;
    case 'none':
      return <DottedLabel verdict="none">{trans.__('nothing here answers it') + sure}</DottedLabel>;
    default:
      return <>{trans.__('not judged by this profile')}</>;
  }
}

function DottedLabel({ verdict, children }: { verdict: string; children: string }): React.JSX.Element {
  return (
    <>
      <span className="jp-Memory-dot" data-verdict={verdict} aria-hidden="true" />
      {children}
    </>
  );
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

/** The milliseconds of each stage, as a bar and as numbers. */
export function Timings({ answer, trans }: { answer: IAnswer; trans: TranslationBundle }): React.JSX.Element {
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
