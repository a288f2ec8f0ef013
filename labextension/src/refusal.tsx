/** What went wrong, as a person is told: in the server's words where it had some. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { type ApiError, MISSING, UNREACHABLE, UNREADABLE } from './api';

export function wordsOf({ reason, message }: ApiError, trans: TranslationBundle): string {
  switch (reason) {
    case UNREACHABLE:
      return trans.__('The Jupyter server does not answer.');
    case MISSING:
      return trans.__('The server does not know jupyter-memory.');
    case UNREADABLE:
      return trans.__('Something else answered than the Jupyter server. If you were logged out, load this page again.');
    default:
      return message;
  }
}

interface IRefusalProps {
  problem: ApiError;
  trans: TranslationBundle;
  /** What can be done about it, and how that is called. */
  act?: { label: string; run(): void };
}

export function Refusal({ problem, trans, act }: IRefusalProps): JSX.Element {
  return (
    <p className="jp-Memory-refusal" role="alert">
      {wordsOf(problem, trans)}
      {act && (
        <>
          {' '}
          <button className="jp-Memory-link" onClick={act.run}>
            {act.label}
          </button>
        </>
      )}
    </p>
  );
}
