/** The header of the panel: its name, what is recorded, the number of memories, the search box, the filters and the verdict. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { closeIcon, historyIcon, ReactWidget, refreshIcon, searchIcon, UseSignal } from '@jupyterlab/ui-components';
import { useId, useRef } from 'react';

import { API } from '../../api/memoryApi';
import type { IHistory } from '../../api/types';
import { withValues } from '../../models/filters';
import type { RelatedCells } from '../../models/relatedCells';
import type { SearchModel } from '../../models/searchModel';
import { emptyReason } from '../results/empty';
import { Action, type IProps, KeepFocus, RemovableChip, TextButton } from '../shared/elements';
import { count } from '../shared/format';
import { relatedIcon } from '../shared/icons';
import { kept, splitTitle, verdictTexts } from '../shared/labels';
import { withMarks } from '../shared/text';
import { Chips, useMenu } from './chips';

const OFF = '%memory history off';

interface IHeaderProps extends IProps<SearchModel> {
  related?: RelatedCells;
  /** Go on to the results. */
  onDown(): void;
}

export function headerWidget(props: IHeaderProps): ReactWidget {
  return ReactWidget.create(<UseSignal signal={props.model.stateChanged}>{() => <Header {...props} />}</UseSignal>);
}

export function Header(props: IHeaderProps): JSX.Element {
  const { model, trans, related } = props;
  const { status } = model;
  const isShut = emptyReason(model) === 'missing' || (status !== null && status.api !== API);
  const head = useRef<HTMLDivElement>(null);
  return (
    <div ref={head} className={model.isLoading ? 'jp-Memory-head jp-mod-loading' : 'jp-Memory-head'}>
      <div className="jp-Memory-top">
        <h2>{trans.__('Memory')}</h2>
        <Recording model={model} trans={trans} />
        {status && (
          <button
            className="jp-Memory-total"
            title={trans._n(
              '%2 cell or note. Search again.',
              '%2 cells and notes. Search again.',
              status.store.memories,
              count(status.store.memories)
            )}
            onClick={() => void model.refresh()}
          >
            <refreshIcon.react tag="span" />
            {count(status.store.memories)}
          </button>
        )}
      </div>
      {!isShut && (
        <KeepFocus fallback={() => focusBox(head.current)}>
          <SearchBox model={model} trans={trans} onDown={props.onDown} />
          <Chips model={model} trans={trans} />
          {related && (
            <UseSignal signal={related.stateChanged}>{() => <RelatedLine {...props} related={related} />}</UseSignal>
          )}
          <VerdictLine model={model} trans={trans} />
        </KeepFocus>
      )}
    </div>
  );
}

/** Focus the search box within a node, with its words selected. */
export function focusBox(node: HTMLElement | null): void {
  const box = node?.querySelector<HTMLInputElement>('input[type="search"]');
  box?.focus();
  box?.select();
}

function SearchBox({ model, trans, onDown }: IHeaderProps): JSX.Element {
  const errorId = useId();
  const input = useRef<HTMLInputElement>(null);
  // Text that an input method is composing is not searched yet.
  const isComposing = useRef(false);
  const error = model.problem?.status === 400 ? withMarks(model.problem.message) : '';
  return (
    <form
      role="search"
      className="jp-Memory-search"
      aria-label={trans.__('Search the memory')}
      onSubmit={event => {
        event.preventDefault();
        void model.answers.search({ now: true });
      }}
    >
      <div className={error ? 'jp-Memory-box jp-mod-wrong' : 'jp-Memory-box'}>
        <searchIcon.react tag="span" className="jp-Memory-boxIcon" />
        <input
          ref={input}
          type="search"
          className="jp-Memory-input"
          dir="auto"
          spellCheck={false}
          autoComplete="off"
          enterKeyHint="search"
          value={model.question.query}
          placeholder={trans.__('What was it about?')}
          title={trans.__('Words, or a question. Filters: kind:cell, tag:x, path:notes/, after:2026-03, “in quotes”')}
          aria-label={trans.__('Search the memory')}
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? errorId : undefined}
          onChange={event => model.answers.setQuery(event.target.value, isComposing.current)}
          onCompositionStart={() => void (isComposing.current = true)}
          onCompositionEnd={() => {
            isComposing.current = false;
            void model.answers.search();
          }}
          onKeyDown={event => {
            // While composing, an input method uses the same keys.
            if (event.key === 'ArrowDown' && !event.nativeEvent.isComposing) {
              event.preventDefault();
              onDown();
            }
            if (
              event.key === 'Escape' &&
              !event.nativeEvent.isComposing &&
              !model.question.query &&
              model.answers.isTurned
            ) {
              void model.answers.back();
            }
          }}
        />
        {model.question.query && (
          <Action
            iconOnly
            icon={closeIcon}
            label={trans.__('Clear')}
            run={() => {
              model.answers.setQuery('');
              input.current?.focus();
            }}
          />
        )}
      </div>
      <div id={errorId} className="jp-Memory-wrong" aria-live="polite">
        {error}
      </div>
    </form>
  );
}

/** It keeps its place while it may come and go, so that the results below it stay where they are. */
function RelatedLine({ related, model, trans, onDown }: Required<IHeaderProps>): JSX.Element | null {
  const { count, isOn, isAnnounced } = related;
  if (!isOn || model.showing.what === 'cell') {
    return null;
  }
  const label = trans._n('%1 cell like this one', '%1 cells like this one', count, count);
  return (
    <div className="jp-Memory-relatedLine">
      {count > 0 && (
        <button
          className="jp-Memory-link"
          title={trans.__('Show the cells of other notebooks that are like the active cell')}
          onClick={() => void related.show().then(onDown)}
        >
          <relatedIcon.react tag="span" />
          {label}
        </button>
      )}
      <span className="jp-Memory-sr" role="status" aria-live="polite">
        {isAnnounced ? label : ''}
      </span>
    </div>
  );
}

/** The sign that kernels remember what they run: what is kept, and how to turn it off. */
export function Recording({ model, trans }: IProps<SearchModel>): JSX.Element | null {
  const box = useRef<HTMLDivElement>(null);
  const { open, toggle, close, onKeyDown } = useMenu<'recording'>(box, model.question.query);
  const id = useId();
  const history = model.status?.history;
  if (!history?.kernels) {
    return null;
  }
  return (
    <div ref={box} className="jp-Memory-recording" onKeyDown={onKeyDown}>
      <button
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
          <TextButton
            look="link"
            label={trans.__('Show what you ran')}
            run={() => {
              close();
              model.answers.setQuery('');
              model.answers.narrow({ filters: withValues(model.question.filters, 'kind', ['history']) });
            }}
          />
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

/** One line about the answer: its verdict, and the number of results. */
function VerdictLine({ model, trans }: IProps<SearchModel>): JSX.Element | null {
  const { answer, showing } = model;
  // After a query that the server rejected, the line would belong to an older answer.
  if (!answer || model.problem?.status === 400) {
    return null;
  }
  // While the store is empty, "not found" would say too much.
  const isEmpty = model.status?.store.memories === 0 && !model.question.stores.length;
  const verdict = isEmpty && !model.hits.length ? null : answer.verdict;
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
