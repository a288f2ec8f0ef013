/** The model of the store: which one is in use, and others, fetched once a person has agreed to their size and licence. */

import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { IJob, IModel } from '../../api/types';
import { type IndexModel, isActive } from '../../models/indexModel';
import { type IProps, KeepFocus, TextButton } from '../shared/elements';
import { bytes, count } from '../shared/format';
import { withMarks } from '../shared/text';
import { ActiveJob } from './folders';

export function Models({ model, trans }: IProps<IndexModel>): React.JSX.Element {
  const { models, status, modelJob } = model;
  const active = models?.find(one => one.active);
  return (
    <section aria-labelledby="jp-Memory-modelTitle">
      <h4 id="jp-Memory-modelTitle">{trans.__('Model')}</h4>
      <div className="jp-Memory-model">
        <strong>{active?.name ?? status?.model ?? trans.__('none: searches match words only, not meaning')}</strong>
        {active && <div className="jp-Memory-dim">{active.title}</div>}
        {active && <div className="jp-Memory-dim">{facts(active, trans)}</div>}
      </div>
      {modelJob && <Change job={modelJob} model={model} trans={trans} />}
      <ul className="jp-Memory-models">
        {models
          ?.filter(one => !one.active)
          .map(one => (
            <Other key={one.name} one={one} model={model} trans={trans} />
          ))}
      </ul>
    </section>
  );
}

function facts({ dimensions, bytes: size, ...one }: IModel, trans: TranslationBundle): string {
  const vectors = dimensions === null ? '' : trans.__('%1 dimensions', count(dimensions));
  const disk = size === null ? '' : trans.__('%1 on disk', bytes(size));
  return [one.state, vectors, disk, one.languages, one.licence].filter(Boolean).join(' · ');
}

function Other({ one, model, trans }: IProps<IndexModel> & { one: IModel }): React.JSX.Element {
  const [isAsking, setAsking] = React.useState(false);
  const button = React.useRef<HTMLButtonElement>(null);
  // Not `disabled`, which would take the focus away.
  const isBusy = model.isPending('model') || (model.modelJob !== null && isActive(model.modelJob));
  const isShut = isBusy || model.status?.store.read_only;
  return (
    <li>
      <strong>{one.name}</strong>
      <div className="jp-Memory-dim">
        {one.title} · {facts(one, trans)}
      </div>
      {one.problem && <div className="jp-Memory-dim">{withMarks(one.problem)}</div>}
      <KeepFocus fallback={() => button.current?.focus()}>
        {isAsking ? (
          <Agreement {...{ one, model, trans }} onDone={() => setAsking(false)} />
        ) : (
          !one.problem && (
            <button
              className="jp-Memory-button"
              ref={button}
              aria-disabled={isShut}
              aria-label={one.download ? trans.__('Fetch %1…', one.name) : trans.__('Use %1', one.name)}
              onClick={() => !isShut && (one.download ? setAsking(true) : void model.useModel(one))}
            >
              {one.download ? trans.__('Fetch it (%1)…', bytes(one.download)) : trans.__('Use it')}
            </button>
          )
        )}
      </KeepFocus>
    </li>
  );
}

/** Nothing is fetched before a person agrees to this. */
function Agreement(props: IProps<IndexModel> & { one: IModel; onDone: () => void }): React.JSX.Element {
  const { one, model, trans, onDone } = props;
  const keep = React.useRef<HTMLButtonElement>(null);
  React.useEffect(() => keep.current?.focus(), []);
  const needs = one.needs.length ? ` ${trans.__('This includes what it needs here: %1.', one.needs.join(', '))}` : '';
  return (
    <div
      className="jp-Memory-sure"
      role="group"
      aria-label={trans.__('Fetch %1?', one.name)}
      onKeyDown={event => event.key === 'Escape' && onDone()}
    >
      <span>
        {trans.__('Fetch %1 from %2? The licence is %3.', bytes(one.download), one.origin, one.licence)}
        {needs}{' '}
        {trans.__(
          'Then the vectors of your cells and notes are computed anew, in the background. You can stop it at any time.'
        )}
      </span>
      <button className="jp-Memory-button" ref={keep} onClick={onDone}>
        {trans.__('Not now')}
      </button>
      <button className="jp-Memory-button jp-mod-accept" onClick={() => void model.useModel(one).then(onDone)}>
        {trans.__('Fetch')}
      </button>
    </div>
  );
}

function Change({ job, model, trans }: IProps<IndexModel> & { job: IJob }): React.JSX.Element {
  const { done, total, summary } = job;
  const label = stepName(job, trans);
  const counted = (all: number): string =>
    summary === 'fetching'
      ? trans.__('%1 of %2', bytes(done), bytes(all))
      : trans.__('%1 of %2 vectors', count(done), count(all));
  const about = {
    label,
    stop: trans.__('Cancel the change to %1', job.model),
    line: <span role="status">{label}</span>
  };
  return (
    <div className="jp-Memory-job">
      {isActive(job) ? (
        <ActiveJob {...{ job, model, trans, ...about }} tally={total === null ? '' : counted(total)} />
      ) : (
        <div className="jp-Memory-jobLine">
          <span role="status" className={job.state === 'failed' ? 'jp-Memory-warning' : ''}>
            {withMarks(summary)}
          </span>
          <TextButton look="link" label={trans.__('Dismiss')} run={() => model.dismiss(job.job_id)} />
        </div>
      )}
    </div>
  );
}

function stepName({ model, summary, state }: IJob, trans: TranslationBundle): string {
  const steps: Record<string, string> = {
    installing: trans.__('Installing what %1 needs', model),
    fetching: trans.__('Fetching %1', model),
    embedding: trans.__('Computing vectors with %1', model)
  };
  return state === 'waiting' ? trans.__('Waiting: %1', model) : (steps[summary] ?? trans.__('Preparing %1', model));
}
