/** One hit as a card: its title, place, snippet and score. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { codeIcon, fileIcon, historyIcon, LabIcon, notebookIcon, textEditorIcon } from '@jupyterlab/ui-components';
import { type HTMLAttributes, memo, useRef } from 'react';

import type { IHit, IRun } from '../../api/types';
import type { IPlacedHit, Verdict } from '../../models/hits';
import { count, day, moment, percent } from '../shared/format';
import { pinIcon } from '../shared/icons';
import { hitNames, isCode, kindTexts, outcomeName, runTitle, termName, took } from '../shared/labels';
import { opening, pieces, withMarks } from '../shared/text';
import { optionId } from './hitActions';
import { type ISnippetProps, marked, Picture, pictureLabel, Snippet } from './snippet';

const DRAG_DISTANCE = 5;

interface IHitProps extends Omit<ISnippetProps, 'pieces'> {
  terms: readonly string[];
  /** The largest sum of positive contributions in the list. */
  longest: number;
  selected: boolean;
  /** Its whole text is shown below it, in place of the snippet. */
  whole: boolean;
  /** How many hits of its section are folded into this one. */
  more: number;
  /** Whether it is shown below the hit into which its section is folded. */
  isMember: boolean;
  accepted: Verdict | undefined;
  row: number;
  /** Whether the heading above it names its file. */
  grouped: boolean;
  trans: TranslationBundle;
  onSelect(id: string): void;
  onOpen(found: IPlacedHit, toSide: boolean): void;
  onDrag(hit: IHit, event: MouseEvent): void;
  onHover(id: string): void;
  pictureOf(id: string, place: number): Promise<string>;
  onTurn(id: string): void;
}

export const HitCard = memo(function HitCard(props: IHitProps): JSX.Element {
  const { found, trans } = props;
  const { hit, place } = found;
  const label = hitNames(hit, place, trans);
  // The snippet does not repeat the title.
  const titled = isCode(hit, place) ? null : opening(hit.snippet, hit.highlights, label.title);
  const snippet = <Snippet {...props} pieces={titled?.rest ?? pieces(hit.snippet, hit.highlights)} />;
  // The section's title stands above it already.
  const isPart = props.isMember && label.at !== '';
  const drag = useDrag(event => props.onDrag(hit, event));
  const feedback = props.accepted === undefined ? '' : props.accepted ? ' jp-mod-useful' : ' jp-mod-useless';
  return (
    <div
      className={`jp-Memory-hit${feedback}${props.isMember ? ' jp-mod-member' : ''}`}
      role="option"
      id={optionId(found)}
      aria-selected={props.selected}
      style={{ gridRow: props.row }}
      onClick={event => {
        props.onSelect(hit.memory_id);
        if (event.detail === 2) {
          props.onOpen(found, event.shiftKey);
        }
      }}
      onMouseEnter={() => props.onHover(hit.memory_id)}
      {...drag}
    >
      <div className="jp-Memory-hitTitle">
        <span className="jp-Memory-rank">{hit.rank}</span>
        <bdi className="jp-Memory-name" title={label.title}>
          {isPart ? label.at : titled ? marked(titled.title) : label.title}
        </bdi>
        {props.more > 0 && (
          <span className="jp-Memory-cells">{trans._n('· %1 cell', '· %1 cells', props.more + 1)}</span>
        )}
        <Badges found={found} trans={trans} />
      </div>
      <Location found={found} grouped={props.grouped || isPart} isPart={isPart} trans={trans} />
      {!props.whole && hit.thumbnails === 0 && snippet}
      {!props.whole && hit.thumbnails > 0 && (
        <div className="jp-Memory-illustrated">
          {snippet}
          <Picture
            key={hit.memory_id}
            picture={() => props.pictureOf(hit.memory_id, 0)}
            label={pictureLabel(0, hit.thumbnails, label.title, trans)}
            tooltip={trans._n('Enlarge the picture', 'Enlarge the %1 pictures', hit.thumbnails)}
            onClick={() => props.onTurn(hit.memory_id)}
          />
        </div>
      )}
      {hit.tags.length > 0 && (
        <div className="jp-Memory-tags">
          {hit.tags.map(tag => (
            <bdi key={tag}>#{withMarks(tag)}</bdi>
          ))}
        </div>
      )}
      {hit.score !== null && (
        <div className="jp-Memory-why">
          <ContributionBar {...props} />
          {hit.strength !== null && (
            <span
              className="jp-Memory-strength"
              title={trans.__('How likely it is that this is what you are looking for')}
            >
              <span className="jp-Memory-sr">{trans.__('strength')} </span>
              {percent(hit.strength)}
            </span>
          )}
        </div>
      )}
    </div>
  );
});

function Badges({ found, trans }: { found: IPlacedHit; trans: TranslationBundle }): JSX.Element {
  const { hit, place } = found;
  const matches = [
    { mark: 'KW', retriever: 'keyword', label: trans.__('keyword match'), rank: hit.kw_rank },
    { mark: 'SEM', retriever: 'vector', label: trans.__('match by meaning'), rank: hit.sem_rank }
  ].filter(({ mark }) => hit.badges.includes(mark));
  const tooltip = matches.map(({ mark, label, rank }) =>
    rank === null ? `${mark}: ${label}` : trans.__('%1: %2, rank %3', mark, label, rank)
  );
  return (
    <>
      {place.pinned && (
        <span className="jp-Memory-pinned" title={trans.__('Pinned')}>
          <pinIcon.react tag="span" />
          <span className="jp-Memory-sr">{trans.__('pinned')}</span>
        </span>
      )}
      {matches.length > 0 && (
        <span className="jp-Memory-badges" title={tooltip.join('\n')}>
          {matches.map(({ mark, retriever, label }) => (
            <span key={mark} className="jp-Memory-badge" data-retriever={retriever}>
              <span aria-hidden="true">{mark}</span>
              <span className="jp-Memory-sr">{label}</span>
            </span>
          ))}
        </span>
      )}
    </>
  );
}

interface ILocationProps extends Pick<IHitProps, 'found' | 'grouped' | 'trans'> {
  /** Whether its section and its cell are named already. */
  isPart: boolean;
}

function Location({ found, grouped, isPart, trans }: ILocationProps): JSX.Element {
  const { hit, place } = found;
  const names = hitNames(hit, place, trans);
  const { file } = names;
  const [context, at] = isPart ? ['', ''] : [names.context, names.at];
  const inside = [context, at].filter(step => step);
  const nowhere = place.run ? trans.__('run') : trans.__('note');
  const steps = [...(grouped && (inside.length || isPart) ? [] : [file || nowhere]), ...(context ? [context] : [])];
  const Icon = iconOf(hit).react;
  const whole = withMarks(
    [hit.source, hit.folder_description, ...inside, place.closed, place.seconds && took(place.seconds, trans)]
      .filter(line => line)
      .join('\n')
  );
  return (
    <div className="jp-Memory-where">
      <Icon tag="span" className="jp-Memory-kind" title={kindTexts(hit.kind, trans)[1]} />
      <span className="jp-Memory-path" title={whole}>
        {steps.length > 0 && (
          <span className="jp-Memory-steps">
            {steps.map((step, i) => (
              <span key={i} className={steps[i] === context ? 'jp-Memory-context' : undefined}>
                {i > 0 && ' › '}
                <bdi>{i === 0 && steps[i] === file && inside.length > 0 ? <File path={step} /> : step}</bdi>
              </span>
            ))}
          </span>
        )}
        {at && (
          <span className="jp-Memory-at">
            {steps.length > 0 && ' › '}
            <bdi>{at}</bdi>
          </span>
        )}
      </span>
      {place.run && <Runs run={place.run} trans={trans} />}
      {place.changed && (
        <span className="jp-Memory-changed" title={trans.__('The file changed since it was indexed.')}>
          {trans.__('changed')}
          <span className="jp-Memory-sr">{trans.__('since it was indexed')}</span>
        </span>
      )}
      {hit.freshness === 'gone' && (
        <span className="jp-Memory-changed" title={trans.__('The file no longer exists. Index its folder again.')}>
          {trans.__('gone')}
        </span>
      )}
      {hit.validity && (
        <span className="jp-Memory-changed" title={hit.validity}>
          {hit.validity}
        </span>
      )}
      {hit.store && hit.memory_id.startsWith(`${hit.store}:`) && (
        <span className="jp-Memory-store" title={trans.__('From the store %1', hit.store)}>
          {hit.store}
        </span>
      )}
      {hit.tier === 'mcp' && <span className="jp-Memory-tier">{trans.__('by an agent')}</span>}
      <time dateTime={hit.event_at ?? undefined} title={moment(hit.event_at)}>
        {day(hit.event_at)}
      </time>
    </div>
  );
}

function Runs({ run, trans }: { run: IRun; trans: TranslationBundle }): JSX.Element {
  const label = outcomeName(run, trans);
  return (
    <span className="jp-Memory-run" data-outcome={run.outcome} title={runTitle(run, trans)}>
      <span aria-hidden="true">{run.count > 1 ? trans.__('%1 × %2', count(run.count), label) : label}</span>
      <span className="jp-Memory-sr">
        {trans._n('ran once: %2', 'ran %2 times, last: %3', run.count, run.count > 1 ? count(run.count) : label, label)}
      </span>
    </span>
  );
}

/** A file; in a narrow panel CSS hides its folder, and in the dense list what all notebooks end with. */
function File({ path }: { path: string }): JSX.Element {
  const [, folder, stem, end] = /^(.*?)([^\\/]*?)(\.ipynb)?$/s.exec(path)!;
  return (
    <>
      <span className="jp-Memory-inFolder">{folder}</span>
      {stem}
      {end && <span className="jp-Memory-ending">{end}</span>}
    </>
  );
}

function iconOf(hit: IHit): LabIcon {
  if (hit.kind === 'history') {
    return historyIcon;
  }
  if (hit.source.endsWith('.ipynb')) {
    return notebookIcon;
  }
  if (!hit.source) {
    return textEditorIcon;
  }
  return hit.source.endsWith('.py') ? codeIcon : fileIcon;
}

function useDrag(begin: (event: MouseEvent) => void): HTMLAttributes<HTMLElement> {
  const pressed = useRef<[number, number] | null>(null);
  return {
    onMouseDown: event => {
      pressed.current = event.button === 0 ? [event.clientX, event.clientY] : null;
    },
    onMouseMove: event => {
      const from = pressed.current;
      if (!from || event.buttons !== 1) {
        pressed.current = null;
      } else if (Math.hypot(event.clientX - from[0], event.clientY - from[1]) > DRAG_DISTANCE) {
        pressed.current = null;
        begin(event.nativeEvent);
      }
    }
  };
}

export function support(hit: IHit): number {
  return Object.values(hit.signals).reduce((sum, one) => sum + Math.max(0, one.contribution), 0);
}

/**
 * What each of `terms` adds to a hit, or takes off, in their order: its share of the positive contributions, -1..1,
 * without those below half a percent.
 */
export function shares(hit: IHit, terms: readonly string[]): { term: string; share: number }[] {
  const whole = support(hit);
  return terms
    .map(term => ({ term, share: (hit.signals[term]?.contribution ?? 0) / whole }))
    .filter(({ share }) => Math.abs(share) > 0.005);
}

/** The bar is hidden from screen readers: the debugger has the same numbers in a table. */
function ContributionBar({ found: { hit }, terms, longest, trans }: IHitProps): JSX.Element {
  const parts = shares(hit, terms);
  const signs = parts.map(({ term, share }) => {
    const name = termName(term, trans);
    return share < 0 ? trans.__('%1 takes off %2', name, percent(-share)) : `${name} ${percent(share)}`;
  });
  // As long as the percent beside it; a profile without one compares the hits by their positive contributions.
  const length = hit.strength ?? support(hit) / longest;
  return (
    <div className="jp-Memory-bar" title={signs.join(', ')} aria-hidden="true">
      {parts.map(
        ({ term, share }) =>
          share > 0 && <i key={term} data-term={term} style={{ width: `${100 * share * length}%` }} />
      )}
    </div>
  );
}
