/** The header of the panel: its name, the number of memories, the search box, the filters and the verdict. */

import { closeIcon, ReactWidget, refreshIcon, searchIcon, UseSignal } from '@jupyterlab/ui-components';
import { useId, useRef } from 'react';

import { API } from '../../api/memoryApi';
import type { RelatedCells } from '../../models/relatedCells';
import type { SearchModel } from '../../models/searchModel';
import { emptyReason } from '../results/empty';
import { type IProps, KeepFocus } from '../shared/elements';
import { count } from '../shared/format';
import { relatedIcon } from '../shared/icons';
import { withMarks } from '../shared/text';
import { Chips } from './chips';
import { Recording } from './recording';
import { VerdictLine } from './verdict';

interface IHeaderProps extends IProps<SearchModel> {
  related?: RelatedCells;
  /** Go on to the results. */
  onDown(): void;
}

export class HeaderWidget extends ReactWidget {
  constructor(private readonly _options: IHeaderProps) {
    super();
    this.addClass('jp-Memory-header');
  }

  protected render(): JSX.Element {
    return <UseSignal signal={this._options.model.stateChanged}>{() => <Header {...this._options} />}</UseSignal>;
  }
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
            type="button"
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
        void model.search({ now: true });
      }}
    >
      <div className={error ? 'jp-Memory-box jp-mod-wrong' : 'jp-Memory-box'}>
        <searchIcon.react tag="span" className="jp-Memory-boxIcon" />
        <input
          type="search"
          className="jp-Memory-input"
          dir="auto"
          spellCheck={false}
          autoComplete="off"
          enterKeyHint="search"
          value={model.query}
          placeholder={trans.__('What was it about?')}
          title={trans.__('Words, or a question. Filters: kind:cell, tag:x, path:notes/, after:2026-03, “in quotes”')}
          aria-label={trans.__('Search the memory')}
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? errorId : undefined}
          onChange={event => model.setQuery(event.target.value, isComposing.current)}
          onCompositionStart={() => void (isComposing.current = true)}
          onCompositionEnd={() => {
            isComposing.current = false;
            void model.search();
          }}
          onKeyDown={event => {
            // While composing, an input method uses the same keys.
            if (event.key === 'ArrowDown' && !event.nativeEvent.isComposing) {
              event.preventDefault();
              onDown();
            }
            if (event.key === 'Escape' && !event.nativeEvent.isComposing && !model.query && model.answers.isTurned) {
              void model.answers.back();
            }
          }}
        />
        {model.query && (
          <button
            type="button"
            className="jp-Memory-sign"
            title={trans.__('Clear')}
            aria-label={trans.__('Clear')}
            onClick={event => {
              model.setQuery('');
              event.currentTarget.parentElement?.querySelector('input')?.focus();
            }}
          >
            <closeIcon.react tag="span" />
          </button>
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
          type="button"
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
