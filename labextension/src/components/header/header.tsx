/** The header of the panel: its name, the number of memories, the search box, the filters and the verdict. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget, refreshIcon, UseSignal } from '@jupyterlab/ui-components';

import { useRef } from 'react';

import { API } from '../../api/memoryApi';
import type { IProfile } from '../../api/types';
import type { RelatedCells } from '../../models/relatedCells';
import type { SearchModel } from '../../models/searchModel';
import { emptyReason } from '../results/empty';
import { count } from '../shared/format';
import { KeepFocus } from '../shared/keepFocus';
import { Chips } from './chips';
import { Recording } from './recording';
import { RelatedLine } from './relatedLine';
import { ProfileChoice, SearchBox } from './searchBox';
import { VerdictLine } from './verdict';

export interface IHeaderOptions {
  model: SearchModel;
  trans: TranslationBundle;
  /** The cells that are like the active one. */
  related?: RelatedCells;
  /** Go on to the results. */
  onDown(): void;
}

export class HeaderWidget extends ReactWidget {
  constructor(private readonly _options: IHeaderOptions) {
    super();
    this.addClass('jp-Memory-header');
  }

  /** Focus the search box and select its text. */
  focusBox(): void {
    const box = boxIn(this.node);
    box?.focus();
    box?.select();
  }

  setProfiles(profiles: readonly IProfile[]): void {
    this._profiles = profiles;
    this.update();
  }

  protected render(): JSX.Element {
    return (
      <UseSignal signal={this._options.model.stateChanged}>
        {() => <Header {...this._options} profiles={this._profiles} />}
      </UseSignal>
    );
  }

  private _profiles: readonly IProfile[] = [];
}

export function Header(props: IHeaderOptions & { profiles: readonly IProfile[] }): JSX.Element {
  const { model, trans, profiles, related } = props;
  const { status } = model;
  const isShut = emptyReason(model) === 'missing' || (status !== null && status.api !== API);
  const head = useRef<HTMLDivElement>(null);
  return (
    <div ref={head} className={model.isLoading ? 'jp-Memory-head jp-mod-loading' : 'jp-Memory-head'}>
      <div className="jp-Memory-top">
        <h2>{trans.__('Memory')}</h2>
        <Recording model={model} trans={trans} />
        <ProfileChoice model={model} profiles={profiles} trans={trans} />
        {status && (
          <button
            type="button"
            className="jp-Memory-total"
            title={trans._n(
              '%2 memory. Search again.',
              '%2 memories. Search again.',
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
        <KeepFocus fallback={() => boxIn(head.current)?.focus()}>
          <SearchBox model={model} trans={trans} onDown={props.onDown} />
          <Chips model={model} trans={trans} />
          {related && <RelatedLine related={related} model={model} trans={trans} onDown={props.onDown} />}
          <VerdictLine model={model} trans={trans} />
        </KeepFocus>
      )}
    </div>
  );
}

function boxIn(node: HTMLElement | null): HTMLInputElement | null {
  return node?.querySelector<HTMLInputElement>('input[type="search"]') ?? null;
}
