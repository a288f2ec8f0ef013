/** The search box, which searches while a person types, and the choice of the profile. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { closeIcon, searchIcon } from '@jupyterlab/ui-components';
import { useId, useRef } from 'react';

import type { IProfile } from '../../api/types';
import type { SearchModel } from '../../models/searchModel';
import { withMarks } from '../shared/withMarks';

export function SearchBox(props: {
  model: SearchModel;
  trans: TranslationBundle;
  /** Go on to the results. */
  onDown(): void;
}): JSX.Element {
  const { model, trans } = props;
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
              props.onDown();
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

/** The choice of the profile; shown once the profiles are loaded. */
export function ProfileChoice(props: {
  model: SearchModel;
  profiles: readonly IProfile[];
  trans: TranslationBundle;
}): JSX.Element | null {
  const { model, profiles, trans } = props;
  if (!profiles.length) {
    return null;
  }
  const usual = profiles.find(profile => profile.default)?.name ?? '';
  const chosen = profiles.find(profile => profile.name === (model.profile || usual));
  return (
    <select
      className="jp-Memory-profileChoice"
      aria-label={trans.__('Profile')}
      title={chosen ? trans.__('Profile: %1', chosen.summary) : trans.__('There is no such profile')}
      value={model.profile || usual}
      onChange={event => model.answers.setProfile(event.target.value === usual ? '' : event.target.value)}
    >
      {!chosen && <option value={model.profile}>{model.profile}</option>}
      {profiles.map(profile => (
        <option key={profile.name} value={profile.name}>
          {profile.name}
        </option>
      ))}
    </select>
  );
}
