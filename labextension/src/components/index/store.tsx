/** The store: its file, counts and size, and the findings of the doctor. */

import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { IndexModel } from '../../models/indexModel';
import { kept } from '../header/recording';
import { bytes, count } from '../shared/format';
import { withMarks } from '../shared/withMarks';

interface IStoreProps {
  model: IndexModel;
  trans: TranslationBundle;
}

export function Store({ model, trans }: IStoreProps): React.JSX.Element | null {
  const { store, history } = model.status ?? {};
  if (!store) {
    return null;
  }
  return (
    <section aria-labelledby="jp-Memory-storeTitle">
      <h4 id="jp-Memory-storeTitle">{trans.__('Store')}</h4>
      <dl className="jp-Memory-facts">
        <dt>{trans.__('File')}</dt>
        <dd className="jp-Memory-file">
          <bdi dir="ltr">{withMarks(store.path)}</bdi>
        </dd>
        <dt>{trans.__('Memories')}</dt>
        <dd className="jp-Memory-number">{count(store.memories)}</dd>
        <dt>{trans.__('Files')}</dt>
        <dd className="jp-Memory-number">{count(store.files)}</dd>
        {history && history.runs > 0 && (
          <>
            <dt>{trans.__('History')}</dt>
            <dd>{kept(history.runs, history.since, trans)}</dd>
          </>
        )}
        <dt>{trans.__('Size')}</dt>
        <dd className="jp-Memory-number">{bytes(store.bytes)}</dd>
        <dt>{trans.__('Version')}</dt>
        <dd>{model.status?.version}</dd>
      </dl>
      {!store.exists && (
        <p className="jp-Memory-dim">{trans.__('The file is created when the first folder is indexed.')}</p>
      )}
      {store.read_only && <p className="jp-Memory-warning">{trans.__('The store is read-only.')}</p>}
      <Doctor model={model} trans={trans} />
    </section>
  );
}

function Doctor({ model, trans }: IStoreProps): React.JSX.Element {
  const { findings } = model;
  const isAsking = model.isPending('doctor');
  return (
    <div className="jp-Memory-doctor">
      <button
        className="jp-Memory-button"
        aria-disabled={isAsking}
        disabled={!model.status?.store.exists}
        onClick={() => !isAsking && void model.runDoctor()}
      >
        {isAsking ? trans.__('Checking…') : trans.__('Check the store')}
      </button>
      <div role="status">
        {findings?.length === 0 && trans.__('No problem found.')}
        {!!findings?.length && trans._n('%1 problem found:', '%1 problems found:', findings.length)}
      </div>
      {!!findings?.length && (
        <ul>
          {findings.map(one => (
            <li key={one}>{withMarks(one)}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
