/** The score of a hit as a thin bar, with a segment for each positive contribution. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IHit } from '../../api/types';
import { percent } from '../shared/format';
import { termName } from '../shared/labels';

export interface ISegment {
  term: string;
  /** Share of the best hit's bar, 0..1. */
  width: number;
  /** Share of this hit's positive contributions, 0..1. */
  share: number;
}

/** The sum of the positive contributions of a hit. */
export function support(hit: IHit): number {
  return Object.values(hit.signals).reduce((sum, one) => sum + Math.max(0, one.contribution), 0);
}

/** The segments of a hit's bar in the order of `terms`, without those below half a percent. */
export function segments(hit: IHit, terms: readonly string[], longest: number): ISegment[] {
  const whole = support(hit);
  return terms
    .map(term => ({ term, value: Math.max(0, hit.signals[term]?.contribution ?? 0) }))
    .filter(({ value }) => value > 0.005 * longest)
    .map(({ term, value }) => ({ term, width: value / longest, share: value / whole }));
}

/** The bar is hidden from screen readers: the debugger has the same numbers in a table. */
export function ContributionBar(props: {
  hit: IHit;
  terms: readonly string[];
  longest: number;
  trans: TranslationBundle;
}): JSX.Element {
  const parts = segments(props.hit, props.terms, props.longest);
  const tooltip = parts.map(part => `${termName(part.term, props.trans)} ${percent(part.share)}`).join(', ');
  return (
    <div className="jp-Memory-bar" title={tooltip} aria-hidden="true">
      {parts.map(part => (
        <i key={part.term} data-term={part.term} style={{ width: `${100 * part.width}%` }} />
      ))}
    </div>
  );
}
