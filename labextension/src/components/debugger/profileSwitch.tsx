/** The profile that ranks the results, its purpose and its formula. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { HTMLSelect } from '@jupyterlab/ui-components';
import React from 'react';

import type { DebuggerModel } from '../../models/debuggerModel';

interface IProfileSwitchProps {
  model: DebuggerModel;
  trans: TranslationBundle;
}

export function ProfileSwitch({ model, trans }: IProfileSwitchProps): React.JSX.Element | null {
  const { profile, profiles } = model;
  if (!profiles.length) {
    return null;
  }
  return (
    <section className="jp-Memory-profiles" aria-label={trans.__('Profile')}>
      <label>
        {trans.__('Profile')}
        <HTMLSelect value={profile?.name ?? ''} onChange={event => model.setProfile(event.target.value)}>
          {!profile && <option value="">{model.search.profile}</option>}
          {profiles.map(one => (
            <option key={one.name} value={one.name}>
              {one.default ? trans.__('%1 (default)', one.name) : one.name}
            </option>
          ))}
        </HTMLSelect>
      </label>
      {profile && (
        <>
          <p>{profile.summary}</p>
          <code className="jp-Memory-formula" dir="ltr" aria-label={trans.__('Formula of the score')}>
            {summands(profile.formula).map((one, i) => (
              <span key={i}>{one}</span>
            ))}
          </code>
        </>
      )}
    </section>
  );
}

/** The terms of a sum, each with its sign: lines break only between them. */
function summands(formula: string): string[] {
  return formula.split(/(?<= )(?=[+−-] (?![^(]*\)))/);
}
