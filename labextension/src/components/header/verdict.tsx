/** One line about the answer: its verdict, the query class, the number of results and the time. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Verdict } from '../../api/types';
import type { SearchModel } from '../../models/searchModel';
import { type IProps, RemovableChip } from '../shared/elements';
import { count, milliseconds } from '../shared/format';
import { classMeaning, classTitle, splitTitle } from '../shared/labels';

export function VerdictLine({ model, trans }: IProps<SearchModel>): JSX.Element | null {
  const { answer, showing } = model;
  // After a query that the server rejected, the line would belong to an older answer.
  if (!answer || model.problem?.status === 400) {
    return null;
  }
  // While the store is empty, "no answer" would say too much.
  const verdict = model.status?.store.memories === 0 && !model.hits.length ? null : answer.verdict;
  const [label, meaning] = verdict ? verdictTexts(verdict, trans) : [];
  // What the results are like, if they are no answer to the question.
  const name =
    showing.what === 'related'
      ? splitTitle(showing.title).name
      : showing.what === 'cell'
        ? showing.text.split('\n', 1)[0]
        : '';
  return (
    <div className="jp-Memory-verdict">
      {(showing.what === 'related' || showing.what === 'cell') && (
        <RemovableChip
          label={showing.what === 'cell' ? trans.__('Like the cell') : trans.__('Like “%1”', name)}
          title={`${name}\n${trans.__('Back to the question')}`}
          onRemove={() => void model.answers.back()}
        />
      )}
      {showing.what === 'browse' && (
        <span title={trans.__('Pinned memories first, then notes, then files, each with the newest first')}>
          {trans.__('newest first')}
        </span>
      )}
      {showing.what === 'search' && (
        <>
          {verdict && (
            <span className="jp-Memory-mood" data-verdict={verdict} title={meaning}>
              {label}
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

/** `12 of 61 · 9 ms`. */
function resultCount(model: SearchModel, trans: TranslationBundle): string {
  const { answer, hits } = model;
  const shown = count(hits.length);
  const all = answer?.counts.fused ?? 0;
  const total = answer?.timings.total;
  const counts = all > hits.length ? trans.__('%1 of %2', shown, count(all)) : shown;
  return total === undefined ? counts : trans.__('%1 · %2 ms', counts, milliseconds(total));
}

/** The label of a verdict, and what it means. */
function verdictTexts(verdict: Verdict, trans: TranslationBundle): [string, string] {
  switch (verdict) {
    case 'strong':
      return [trans.__('strong'), trans.__('The first results very likely answer this')];
    case 'weak':
      return [trans.__('weak'), trans.__('The results may answer this')];
    case 'none':
      return [trans.__('no answer'), trans.__('Nothing here seems to answer this. These are the closest results.')];
  }
}
