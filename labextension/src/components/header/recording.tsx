/** The sign that kernels remember what they run: what is kept, and how to turn it off. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { historyIcon } from '@jupyterlab/ui-components';
import { useId, useRef } from 'react';

import type { IHistory } from '../../api/types';
import { withValues } from '../../models/filters';
import type { SearchModel } from '../../models/searchModel';
import type { IProps } from '../shared/elements';
import { count, day } from '../shared/format';
import { useMenu } from './chips';

const OFF = '%memory history off';

export function Recording({ model, trans }: IProps<SearchModel>): JSX.Element | null {
  const box = useRef<HTMLDivElement>(null);
  const { open, toggle, close, onKeyDown } = useMenu<'recording'>(box, model.query);
  const id = useId();
  const history = model.status?.history;
  if (!history?.kernels) {
    return null;
  }
  return (
    <div ref={box} className="jp-Memory-recording" onKeyDown={onKeyDown}>
      <button
        type="button"
        className="jp-Memory-recordingSign"
        title={`${summary(history, trans)}\n${trans.__('To turn it off, run %1 in the notebook.', OFF)}`}
        aria-label={trans.__('History is on')}
        aria-expanded={open !== null}
        aria-controls={open ? id : undefined}
        onClick={() => toggle('recording')}
      >
        <historyIcon.react tag="span" />
        {trans.__('on')}
      </button>
      {open && (
        <div className="jp-Memory-menu jp-Memory-recordingNote" id={id} role="group" aria-label={trans.__('History')}>
          <p>{summary(history, trans)}</p>
          <p>
            {trans.__(
              'Of each cell that you run, your store keeps the code, when it ran, how it ended, and its notebook. Outputs are not kept.'
            )}
          </p>
          <p>
            {trans.__('To turn it off, run this in the notebook:')} <code>{OFF}</code>
          </p>
          <button
            type="button"
            className="jp-Memory-link"
            onClick={() => {
              close();
              model.setQuery('');
              model.answers.setFilters(withValues(model.filters, 'kind', ['history']));
            }}
          >
            {trans.__('Show what you ran')}
          </button>
        </div>
      )}
    </div>
  );
}

/** `2 kernels remember what they run. 1,234 runs since 3 Oct.` */
function summary({ kernels, runs, since }: IHistory, trans: TranslationBundle): string {
  const now = trans._n(
    'A kernel remembers what it runs.',
    '%2 kernels remember what they run.',
    kernels,
    count(kernels)
  );
  return `${now} ${kept(runs, since, trans)}`;
}

export function kept(runs: number, since: string | null, trans: TranslationBundle): string {
  return since === null
    ? trans.__('Nothing is in the store yet.')
    : trans._n('%2 run since %3.', '%2 runs since %3.', runs, count(runs), day(since));
}
