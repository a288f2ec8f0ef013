/** Every text that ran in the cell of a memory, with what it changed; fetched when a person asks. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { useState } from 'react';

import { ApiError } from '../../api/memoryApi';
import type { IVersion, IVersions } from '../../api/types';
import type { WholeTexts } from '../../models/wholeTexts';
import type { IActions } from '../../tokens';
import { ErrorMessage, TextButton } from '../shared/elements';
import { moment } from '../shared/format';
import { outcomeName, took } from '../shared/labels';
import { withMarks } from '../shared/text';

interface IVersionsProps {
  id: string;
  texts: WholeTexts;
  actions: IActions;
  trans: TranslationBundle;
}

export function Versions({ id, texts, actions, trans }: IVersionsProps): JSX.Element {
  const [told, setTold] = useState<IVersions | ApiError | null>(null);
  const ask = (): void => void texts.versions(id).then(setTold);
  if (told === null) {
    return <TextButton look="action" label={trans.__('Versions')} run={ask} />;
  }
  if (told instanceof ApiError) {
    return <ErrorMessage problem={told} trans={trans} act={{ label: trans.__('Retry'), run: ask }} />;
  }
  const head = (one: IVersion): string =>
    [
      trans.__('version %1', one.version),
      moment(one.when),
      outcomeName(one, trans),
      one.durations.length > 0 && took(one.durations, trans),
      withMarks(one.result)
    ]
      .filter(fact => fact)
      .join(' · ');
  return (
    <>
      {told.notice && <p>{withMarks(told.notice)}</p>}
      {told.versions.map(one => (
        <div key={one.version} className="jp-Memory-nearby jp-mod-code">
          <p>
            <span>{head(one)}</span>
            {actions.hasNotebook && (
              <TextButton
                look="action"
                label={trans.__('Insert')}
                run={() => void actions.insertCells([{ index: 0, offset: 0, isCode: true, source: one.text }])}
              />
            )}
          </p>
          <div dir="ltr">{withMarks(one.diff.split('\n').slice(3).join('\n') || one.text)}</div>
        </div>
      ))}
    </>
  );
}
