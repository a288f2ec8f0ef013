/** The embedding model in use, the other ones, and the commands that switch to them. */

import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { IModel } from '../../api/types';
import type { IndexModel } from '../../models/indexModel';
import { bytes, count } from '../shared/format';

interface IModelsProps {
  model: IndexModel;
  trans: TranslationBundle;
}

export function Models({ model, trans }: IModelsProps): React.JSX.Element {
  const { models, status } = model;
  const active = models?.find(one => one.active);
  const others = models?.filter(one => !one.active) ?? [];
  return (
    <section aria-labelledby="jp-Memory-modelTitle">
      <h4 id="jp-Memory-modelTitle">{trans.__('Model')}</h4>
      <div className="jp-Memory-model">
        <strong>{active?.name ?? status?.model ?? trans.__('none: searches match words only, not meaning')}</strong>
        {active && <div className="jp-Memory-dim">{facts(active, trans)}</div>}
      </div>
      {active?.title && <div className="jp-Memory-dim">{active.title}</div>}
      {!!others.length && (
        <details>
          <summary>{trans.__('Change it')}</summary>
          <p>{trans.__('Run one of these in a notebook; nothing is downloaded before you agree:')}</p>
          <ul className="jp-Memory-models">
            {others.map(one => (
              <li key={one.name}>
                <code dir="ltr">{`%memory model use ${one.name}`}</code>
                <div className="jp-Memory-dim">
                  {one.title} · {facts(one, trans)}
                </div>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function facts(one: IModel, trans: TranslationBundle): string {
  const dimensions = one.dimensions === null ? '' : trans.__('%1 dimensions', count(one.dimensions));
  const size = one.bytes === null ? '' : trans.__('%1 on disk', bytes(one.bytes));
  return [one.state, dimensions, size, one.languages, one.licence].filter(Boolean).join(' · ');
}
