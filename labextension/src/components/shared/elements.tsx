/** Elements that several sections share. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { Component, createRef, type ReactNode } from 'react';

import {
  type ApiError,
  COUNT_DIFFERS,
  INVALID_FIELD,
  MISSING,
  NO_MEMORY,
  UNREACHABLE,
  UNREADABLE
} from '../../api/memoryApi';
import { withMarks } from './text';

export function errorText({ reason, message }: ApiError, trans: TranslationBundle): string {
  switch (reason) {
    case UNREACHABLE:
      return trans.__('The Jupyter server does not answer.');
    case MISSING:
      return trans.__('The server does not know jupyter-memory.');
    case UNREADABLE:
      return trans.__('The answer did not come from the Jupyter server. If you were logged out, load this page again.');
    case NO_MEMORY:
      return trans.__('This memory no longer exists: it was forgotten elsewhere, or removed from its file.');
    case COUNT_DIFFERS:
      return trans.__('Nothing was forgotten: the number of memories changed meanwhile. Look at it and try again.');
    default:
      return isForbidden(message)
        ? trans.__('The server denied access. If you were logged out or its token changed, load this page again.')
        : reason === INVALID_FIELD
          ? withMarks(withoutFieldName(message))
          : withMarks(message);
  }
}

/** `path: there is nothing at this path.` without the name of the field, which means nothing to a person. */
function withoutFieldName(message: string): string {
  const words = message.replace(/^[a-z_.]+: /, '');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Whether the message is a bare HTTP status: the server's answer without a valid token. */
function isForbidden(message: string): boolean {
  return ['Forbidden', 'Unauthorized', '401', '403'].includes(message);
}

interface IErrorMessageProps {
  problem: ApiError;
  trans: TranslationBundle;
  act?: { label: string; run(): void };
}

export function ErrorMessage({ problem, trans, act }: IErrorMessageProps): JSX.Element {
  return (
    <p className="jp-Memory-refusal" role="alert">
      {errorText(problem, trans)}
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

interface IKeepFocusProps {
  fallback(): void;
  children: ReactNode;
}

/** A class, because only `getSnapshotBeforeUpdate` sees the document before the change. */
export class KeepFocus extends Component<IKeepFocusProps> {
  override getSnapshotBeforeUpdate(): Element | null {
    const had = document.activeElement;
    return this._frame.current?.contains(had) ? had : null;
  }

  override componentDidUpdate(_props: IKeepFocusProps, _state: object, had: Element | null): void {
    // An inner one may have moved the focus already.
    if (had && !had.isConnected && document.activeElement === document.body) {
      this.props.fallback();
    }
  }

  override render(): ReactNode {
    return (
      <div ref={this._frame} className="jp-Memory-kept">
        {this.props.children}
      </div>
    );
  }

  private readonly _frame = createRef<HTMLDivElement>();
}
