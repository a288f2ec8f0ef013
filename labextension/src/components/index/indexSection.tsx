/** The section of the panel that shows what is indexed, indexes more, and looks after the store. */

import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { IndexModel } from '../../models/indexModel';
import type { ISection } from '../../tokens';
import { ErrorMessage } from '../shared/errorMessage';
import { KeepFocus } from '../shared/keepFocus';
import { withMarks } from '../shared/withMarks';
import { AddFolder } from './addFolder';
import { Folders } from './folders';
import { Jobs } from './jobs';
import { Models } from './models';
import { Store } from './store';

export interface IIndexOptions {
  model: IndexModel;
  trans: TranslationBundle;
  /** The folder that Lab's file browser shows, as a contents path. */
  folderNow?: () => string;
  /** Let a person pick a folder; null if they cancel. */
  pickFolder?: () => Promise<string | null>;
}

/** The model is kept up to date only while the section can be seen. */
export function indexSection(options: IIndexOptions): ISection {
  const { model, trans } = options;
  return {
    id: 'index',
    rank: 300,
    label: () => title(model, trans),
    caption: trans.__('What is indexed'),
    className: 'jp-Memory-index',
    model,
    render: () => <Index {...options} />
  };
}

/** The title with the state of indexing, which is visible while the section is folded, too. */
function title(model: IndexModel, trans: TranslationBundle): string {
  const failed = model.jobs.reduce((all, job) => all + job.failed.length, 0);
  const state = model.isIndexing ? trans.__('indexing…') : failed ? trans.__('%1 failed', failed) : '';
  const label = trans.__('Index');
  return state ? `${label} · ${state}` : label;
}

export function Index({ model, trans, folderNow, pickFolder }: IIndexOptions): React.JSX.Element {
  const { status } = model;
  const body = React.useRef<HTMLDivElement>(null);
  return (
    <div className="jp-Memory-indexBody" ref={body} tabIndex={-1}>
      <KeepFocus fallback={() => body.current?.focus({ preventScroll: true })}>
        {model.problem && (
          <ErrorMessage
            {...{ problem: model.problem, trans }}
            act={{ label: trans.__('Try again'), run: () => void model.refresh() }}
          />
        )}
        {model.refusal && model.refusal.reason !== model.problem?.reason && (
          <ErrorMessage
            {...{ problem: model.refusal, trans }}
            act={{ label: trans.__('Dismiss'), run: () => model.dismissRefusal() }}
          />
        )}
        {status?.notices.map(notice => (
          <p key={notice} className="jp-Memory-remark">
            {withMarks(notice)}
          </p>
        ))}
        {status && (
          <>
            <Jobs model={model} trans={trans} />
            <Folders model={model} trans={trans} />
            <AddFolder {...{ model, trans, folderNow, pickFolder }} />
            <Models model={model} trans={trans} />
            <Store model={model} trans={trans} />
          </>
        )}
        {!status && !model.problem && <p className="jp-Memory-dim">{trans.__('Asking the server…')}</p>}
      </KeepFocus>
    </div>
  );
}
