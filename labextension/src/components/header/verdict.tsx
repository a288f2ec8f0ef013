/** One line about the answer: its verdict, the query class, the number of results and the time. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { closeIcon } from '@jupyterlab/ui-components';

import type { Verdict } from '../../api/types';
import type { SearchModel } from '../../models/searchModel';
import { count, milliseconds } from '../shared/format';
import { classMeaning, classTitle, splitTitle } from '../shared/labels';

export function VerdictLine({ model, trans }: { model: SearchModel; trans: TranslationBundle }): JSX.Element | null {
  const { answer, showing } = model;
  // After a query that the server rejected, the line would belong to an older answer.
  if (!answer || model.problem?.status === 400) {
    return null;
  }
  // While the store is empty, "no answer" would say too much.
  const verdict = model.status?.store.memories === 0 && !model.hits.length ? null : answer.verdict;
  return (
    <div className="jp-Memory-verdict">
      {showing.what === 'related' && (
        <Turned model={model} trans={trans} label={trans.__('Like “%1”', splitTitle(showing.title).name)}>
          {splitTitle(showing.title).name}
        </Turned>
      )}
      {showing.what === 'cell' && (
        <Turned model={model} trans={trans} label={trans.__('Like the cell')}>
          {showing.text.split('\n', 1)[0]}
        </Turned>
      )}
      {showing.what === 'browse' && (
        <span title={trans.__('Pinned memories first, then notes, then files, each with the newest first')}>
          {trans.__('newest first')}
        </span>
      )}
      {showing.what === 'search' && (
        <>
          {verdict && (
            <span className="jp-Memory-mood" data-verdict={verdict} title={verdictMeaning(verdict, trans)}>
              {verdictLabel(verdict, trans)}
            </span>
          )}
          <span title={classMeaning(answer.query_class, trans)}>{classTitle(answer.query_class, trans)}</span>
        </>
      )}
      <span className="jp-Memory-tally" dir="auto">
        {resultCount(model, trans)}
      </span>
    </div>
  );
}

function Turned(props: {
  model: SearchModel;
  trans: TranslationBundle;
  label: string;
  children: string;
}): JSX.Element {
  return (
    <button
      type="button"
      className="jp-Memory-chip jp-mod-on"
      title={`${props.children}\n${props.trans.__('Back to the question')}`}
      onClick={() => void props.model.answers.back()}
    >
      <bdi>{props.label}</bdi>
      <closeIcon.react tag="span" className="jp-Memory-chipIcon" />
    </button>
  );
}

/** `12 of 61 · 9 ms`. */
function resultCount(model: SearchModel, trans: TranslationBundle): string {
  const { answer, hits } = model;
  const shown = count(hits.length);
  const all = answer?.counts.fused ?? 0;
  const total = answer?.timings.total;
  const counts = all > hits.length ? trans.__('%1 of %2', shown, count(all)) : shown;
  return total === undefined ? counts : trans.__('%1 · %2 ms', counts, milliseconds(total));
}

function verdictLabel(verdict: Verdict, trans: TranslationBundle): string {
  return { strong: trans.__('strong'), weak: trans.__('weak'), none: trans.__('no answer') }[verdict];
}

function verdictMeaning(verdict: Verdict, trans: TranslationBundle): string {
  return {
    strong: trans.__('The first results very likely answer this'),
    weak: trans.__('The results may answer this'),
    none: trans.__('Nothing here seems to answer this. These are the closest results.')
  }[verdict];
}
