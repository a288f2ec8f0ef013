/** The Results section: the buttons in its title, notices, hits, and a message where there are none. */

import type { TranslationBundle } from '@jupyterlab/translation';
import {
  addBelowIcon,
  collapseAllIcon,
  expandAllIcon,
  ReactWidget,
  Toolbar,
  treeViewIcon,
  UseSignal,
  type VDomModel
} from '@jupyterlab/ui-components';
import { useEffect, useReducer, useRef, useState } from 'react';

import { NO_STORE } from '../../api/memoryApi';
import { asTyped } from '../../models/cells';
import type { IDeletion } from '../../models/hits';
import type { RelatedCells } from '../../models/relatedCells';
import type { SearchModel } from '../../models/searchModel';
import type { IActions, ISection } from '../../tokens';
import { Action, errorText, type IProps, KeepFocus, TextButton } from '../shared/elements';
import { count } from '../shared/format';
import { relatedIcon } from '../shared/icons';
import { splitTitle } from '../shared/labels';
import { withMarks } from '../shared/text';
import { Elsewhere, Empty, emptyReason } from './empty';
import { HitList, type IHitListProps } from './hitList';

export function resultsSection({ related, ...props }: IHitListProps & { related: RelatedCells }): ISection {
  const { model, actions, trans } = props;
  return {
    id: 'results',
    rank: 100,
    label: () => trans.__('Results'),
    caption: trans.__('What the search found'),
    isExpanded: true,
    className: 'jp-Memory-results',
    toolbar: resultsToolbar(model, actions, trans, related),
    render: () => (
      <UseSignal signal={model.stateChanged}>
        {() => (model.selection.overlaid ? null : <Results {...props} />)}
      </UseSignal>
    )
  };
}

function resultsToolbar(
  model: SearchModel,
  actions: IActions,
  trans: TranslationBundle,
  related: RelatedCells
): Toolbar {
  const toolbar = new Toolbar();
  const add = (name: string, { stateChanged }: VDomModel, render: () => JSX.Element): void => {
    const view = ReactWidget.create(<UseSignal signal={stateChanged}>{render}</UseSignal>);
    view.addClass('jp-Memory-view');
    toolbar.addItem(name, view);
  };
  add('related', related, () => <RelatedToggle related={related} trans={trans} />);
  add('view', model, () => <ToolbarButtons model={model} actions={actions} trans={trans} />);
  return toolbar;
}

export function ToolbarButtons(props: IProps<SearchModel> & { actions: IActions }): JSX.Element {
  const { model, actions, trans } = props;
  const question = model.question.query.trim();
  // Checks whether there is a notebook to insert into whenever the mouse or the focus comes here.
  const [, near] = useReducer((times: number) => times + 1, 0);
  return (
    <span className="jp-Memory-viewSigns" onMouseEnter={near} onFocus={near}>
      {question && (
        <Action
          iconOnly
          icon={addBelowIcon}
          label={trans.__('Insert the search as %memsearch')}
          title={actions.hasNotebook ? undefined : trans.__('Open a notebook to insert into')}
          disabled={!actions.hasNotebook}
          run={() => void actions.toNotebook(asTyped(model.question))}
        />
      )}
      {model.selection.grouped && (
        <>
          <Action
            iconOnly
            icon={collapseAllIcon}
            label={trans.__('Collapse all')}
            run={() => model.selection.foldAll(model.hits.map(one => one.hit.source))}
          />
          <Action
            iconOnly
            icon={expandAllIcon}
            label={trans.__('Expand all')}
            run={() => model.selection.foldAll([])}
          />
        </>
      )}
      {(model.hits.length > 0 || model.selection.grouped) && (
        <Action
          iconOnly
          icon={treeViewIcon}
          label={trans.__('Group by notebook')}
          pressed={model.selection.grouped}
          run={() => model.selection.setGrouped(!model.selection.grouped)}
        />
      )}
    </span>
  );
}

export function RelatedToggle({ related, trans }: { related: RelatedCells; trans: TranslationBundle }): JSX.Element {
  return (
    <Action
      iconOnly
      icon={relatedIcon}
      label={trans.__('Related cells while you work')}
      pressed={related.isOn}
      run={() => related.choose(!related.isOn)}
    />
  );
}

export function focusList(node: HTMLElement | null | undefined): boolean {
  const list = node?.querySelector<HTMLElement>('[role="listbox"]');
  list?.focus({ preventScroll: true });
  return !!list;
}

export function Results(props: IHitListProps): JSX.Element {
  const { model, trans, onIndex } = props;
  const { hits } = model;
  const why = emptyReason(model) ?? '';
  const isShut = ['missing', 'older', 'newer', 'unreachable', 'refused'].includes(why);
  // In an empty store, `Empty` says everything.
  const isNothing = isShut || ['nothing', 'indexing'].includes(why);
  const isWrong = model.problem?.status === 400;
  const isOld = isWrong || (model.problem !== null && model.answers.isBehind);
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const scroller = body.current?.closest('.jp-Memory-results');
    if (scroller) {
      scroller.scrollTop = 0;
    }
  }, [model.about]);
  const more = async (isByKey: boolean): Promise<void> => {
    const from = model.hits.length;
    await model.answers.showMore();
    if (isByKey && model.hits[from]) {
      // The keyboard continues at the first of the new hits.
      model.selection.select(model.hits[from].hit.memory_id);
      focusList(body.current);
    }
  };
  const focusFallback = (): void => {
    if (model.selected === null || !focusList(body.current)) {
      props.onLeave();
    }
  };
  return (
    <div
      ref={body}
      className={isOld ? 'jp-Memory-resultsBody jp-mod-outdated' : 'jp-Memory-resultsBody'}
      aria-busy={model.isLoading}
    >
      <KeepFocus fallback={focusFallback}>
        <div className="jp-Memory-sr" role="status" aria-live="polite">
          {model.answer && !model.isLoading && trans._n('%1 result', '%1 results', hits.length, hits.length)}
        </div>
        <Problem model={model} trans={trans} />
        <div role="status" className="jp-Memory-forgotten">
          {model.undo.waiting.map(one => (
            <Undo key={one.id} {...one} model={model} trans={trans} />
          ))}
        </div>
        {!isNothing && !isWrong && <Notices notices={model.answer?.notices ?? []} trans={trans} />}
        <Empty model={model} trans={trans} onIndex={onIndex} onRetry={() => void model.refresh()} />
        {model.hits.length > 0 && !isShut && (
          <>
            <Elsewhere model={model} trans={trans} />
            <HitList {...props} />
            {model.answers.hasMore && (
              <button type="button" className="jp-Memory-more" onClick={event => void more(event.detail === 0)}>
                {trans.__('Show more')}
              </button>
            )}
            <ChangedFiles {...props} />
          </>
        )}
      </KeepFocus>
    </div>
  );
}

/** At most one line of notices; the rest is behind “more”. */
function Notices({ notices, trans }: { notices: readonly string[]; trans: TranslationBundle }): JSX.Element | null {
  const texts = notices.map(withMarks);
  if (!texts.length) {
    return null;
  }
  return (
    <details className="jp-Memory-notices" dir="auto" key={texts.join('\n')}>
      <summary>
        <span>{texts[0]}</span> <span className="jp-Memory-link">{trans.__('more')}</span>
      </summary>
      {texts.slice(1).map(text => (
        <p key={text}>{text}</p>
      ))}
    </details>
  );
}

/** A problem above the answer. `Empty` shows problems that leave no answer, the search box those of the query. */
function Problem({ model, trans }: IProps<SearchModel>): JSX.Element | null {
  const { problem } = model;
  const below = emptyReason(model) ?? '';
  const isShownBelow =
    ['missing', 'unreachable', 'refused'].includes(below) ||
    (problem?.reason === NO_STORE && ['nothing', 'indexing'].includes(below));
  if (!problem || problem.status === 400 || isShownBelow) {
    return null;
  }
  return (
    <div className="jp-Memory-notice jp-mod-wrong" role="alert">
      <span>{errorText(problem, trans)}</span>
      <TextButton look="action" label={trans.__('Retry')} run={() => void model.refresh()} />
      <TextButton look="action" label={trans.__('Dismiss')} run={() => model.report(null)} />
    </div>
  );
}

/** One deletion that can be undone; its timer pauses while the pointer or the focus is here. */
function Undo({ id, title, model, trans }: IDeletion & IProps<SearchModel>): JSX.Element {
  const [isPointed, setPointed] = useState(false);
  const [hasKeyboard, setKeyboard] = useState(false);
  const isHeld = isPointed || hasKeyboard;
  useEffect(() => {
    if (isHeld) {
      model.undo.pause(id);
      return () => model.undo.resume(id);
    }
    return undefined;
  }, [model, id, isHeld]);
  return (
    <div
      className="jp-Memory-notice"
      onMouseEnter={() => setPointed(true)}
      onMouseLeave={() => setPointed(false)}
      onFocus={() => setKeyboard(true)}
      onBlur={() => setKeyboard(false)}
    >
      <span>{trans.__('Forgotten: %1', withMarks(splitTitle(title).name))}</span>
      <TextButton look="action" label={trans.__('Undo')} run={() => model.undoForget(id)} />
    </div>
  );
}

function ChangedFiles({ model, trans, onIndex }: IHitListProps): JSX.Element | null {
  const changed = model.hits.flatMap(({ place }) => (place.changed && place.path !== null ? [place.path] : []));
  const paths = [...new Set(changed)];
  if (!paths.length) {
    return null;
  }
  const message = trans._n(
    '%2 file changed since it was indexed',
    '%2 files changed since they were indexed',
    paths.length,
    count(paths.length)
  );
  return (
    <div className="jp-Memory-foot">
      {message} ·{' '}
      <TextButton look="action" label={trans.__('Index now')} run={() => paths.forEach(path => onIndex(path))} />
    </div>
  );
}
