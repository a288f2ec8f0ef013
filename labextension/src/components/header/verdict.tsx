/** One line about the answer: its verdict, and the number of results. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { SearchModel } from '../../models/searchModel';
import { type IProps, RemovableChip } from '../shared/elements';
import { count } from '../shared/format';
import { splitTitle, verdictTexts } from '../shared/labels';

export function VerdictLine({ model, trans }: IProps<SearchModel>): JSX.Element | null {
  const { answer, showing } = model;
  // After a query that the server rejected, the line would belong to an older answer.
  if (!answer || model.problem?.status === 400) {
    return null;
  }
  // While the store is empty, "not found" would say too much.
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
        <span title={trans.__('Pinned ones first, then notes, then files, each with the newest first')}>
          {trans.__('newest first')}
        </span>
      )}
      {showing.what === 'search' && verdict && (
        <span className="jp-Memory-mood" data-verdict={verdict} title={meaning}>
          {label}
        </span>
      )}
      <span className="jp-Memory-tally" dir="auto">
        {resultCount(model, trans)}
      </span>
    </div>
  );
}

/** `12 of 61`. */
function resultCount({ answer, hits }: SearchModel, trans: TranslationBundle): string {
  const all = answer?.counts.fused ?? 0;
  return all > hits.length ? trans.__('%1 of %2', count(hits.length), count(all)) : count(hits.length);
}
