/** A form for a path to index: typed, picked, or the folder that Lab shows. */

import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { IndexModel } from '../../models/indexModel';

interface IAddFolderProps {
  model: IndexModel;
  trans: TranslationBundle;
  folderNow?: () => string;
  pickFolder?: () => Promise<string | null>;
}

export function AddFolder({ model, trans, folderNow, pickFolder }: IAddFolderProps): React.JSX.Element {
  const [typed, setTyped] = React.useState<string | null>(null);
  const [isWatched, setWatched] = React.useState(true);
  const path = typed ?? folderNow?.() ?? '';
  const add = async (event: React.FormEvent): Promise<void> => {
    event.preventDefault();
    if (!model.isPending('index') && (await model.index(path.trim(), isWatched))) {
      setTyped(null);
    }
  };
  const pick = async (): Promise<void> => {
    const picked = await pickFolder?.();
    if (typeof picked === 'string') {
      setTyped(picked);
    }
  };
  return (
    <form className="jp-Memory-form" aria-label={trans.__('Index a folder')} onSubmit={event => void add(event)}>
      <label>
        {trans.__('Index a folder or a file:')}
        <input
          className="jp-mod-styled"
          dir="auto"
          value={path}
          placeholder={model.status?.root || trans.__('an absolute path')}
          onChange={event => setTyped(event.target.value)}
          spellCheck={false}
          autoComplete="off"
        />
      </label>
      <div className="jp-Memory-formActs">
        <label>
          <input type="checkbox" checked={isWatched} onChange={event => setWatched(event.target.checked)} />
          {trans.__('Watch it')}
        </label>
        <span className="jp-Memory-space" />
        {pickFolder && (
          <button className="jp-Memory-button" type="button" onClick={() => void pick()}>
            {trans.__('Browse…')}
          </button>
        )}
        <button
          className="jp-Memory-button jp-mod-accept"
          type="submit"
          aria-disabled={model.isPending('index')}
          disabled={model.status?.store.read_only}
        >
          {trans.__('Index')}
        </button>
      </div>
    </form>
  );
}
