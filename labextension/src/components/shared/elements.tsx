/** What several sections share: props, messages, buttons, and where the focus goes. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { closeIcon, type LabIcon } from '@jupyterlab/ui-components';
import { Component, createRef, type ReactNode, useEffect, useRef } from 'react';

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

export interface IProps<Model> {
  model: Model;
  trans: TranslationBundle;
}

/** An error for a person, in the server's words where it has some. */
export function errorText({ reason, message }: ApiError, trans: TranslationBundle): string {
  switch (reason) {
    case UNREACHABLE:
      return trans.__('The Jupyter server does not answer.');
    case MISSING:
      return trans.__('The server does not know jupyter-memory.');
    case UNREADABLE:
      return trans.__('The answer did not come from the Jupyter server. If you were logged out, load this page again.');
    case NO_MEMORY:
      return trans.__('This cell or note no longer exists: it was forgotten elsewhere, or removed from its file.');
    case COUNT_DIFFERS:
      return trans.__('Nothing was forgotten: the number of memories changed meanwhile. Look at it and try again.');
  }
  // A bare HTTP status is the server's answer without a valid token.
  if (['Forbidden', 'Unauthorized', '401', '403'].includes(message)) {
    return trans.__('The server denied access. If you were logged out or its token changed, load this page again.');
  }
  // The name of the field means nothing to a person.
  const words = reason === INVALID_FIELD ? message.replace(/^[a-z_.]+: /, '') : message;
  return withMarks(reason === INVALID_FIELD ? words.charAt(0).toUpperCase() + words.slice(1) : words);
}

export function TextButton(props: { look: 'action' | 'link'; label: string; run(): void }): JSX.Element {
  return (
    <button type="button" className={`jp-Memory-${props.look}`} onClick={props.run}>
      {props.label}
    </button>
  );
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
          <TextButton look="link" label={act.label} run={act.run} />
        </>
      )}
    </p>
  );
}

export interface IAction {
  label: string;
  icon: LabIcon;
  title?: string;
  disabled?: boolean;
  pressed?: boolean;
  run(): void;
}

/** Not Lab's `ToolbarButton`, because screen readers do not see its pressed state. */
export function Action(props: IAction & { iconOnly?: boolean; skipsTab?: boolean }): JSX.Element {
  const Icon = props.icon.react;
  return (
    <button
      type="button"
      className={props.iconOnly ? 'jp-Memory-sign' : 'jp-Memory-action'}
      title={props.title ?? props.label}
      aria-label={props.iconOnly ? props.label : undefined}
      aria-disabled={props.disabled || undefined}
      aria-pressed={props.pressed}
      tabIndex={props.skipsTab ? -1 : undefined}
      onClick={() => !props.disabled && props.run()}
    >
      {props.iconOnly ? <Icon tag="span" /> : props.label}
    </button>
  );
}

interface ISureProps {
  label: string;
  children: ReactNode;
  no: string;
  yes: string;
  look: 'jp-mod-warn' | 'jp-mod-accept';
  isBusy?: boolean;
  onYes(): void;
  onNo(): void;
}

/** A question before something that takes long or cannot be undone; at first the focus is on No. */
export function Sure(props: ISureProps): JSX.Element {
  const no = useRef<HTMLButtonElement>(null);
  useEffect(() => no.current?.focus(), []);
  return (
    <div
      className="jp-Memory-sure"
      role="group"
      aria-label={props.label}
      onKeyDown={event => event.key === 'Escape' && props.onNo()}
    >
      <span>{props.children}</span>
      <button className="jp-Memory-button" ref={no} onClick={props.onNo}>
        {props.no}
      </button>
      {/* Not `disabled`, which would take the focus away. */}
      <button
        className={`jp-Memory-button ${props.look}`}
        aria-disabled={props.isBusy}
        onClick={() => !props.isBusy && props.onYes()}
      >
        {props.yes}
      </button>
    </div>
  );
}

/** A chip that a click removes. */
export function RemovableChip(props: {
  isTime?: boolean;
  label: string;
  title: string;
  onRemove(): void;
}): JSX.Element {
  const title = withMarks(props.title);
  return (
    <button
      type="button"
      className={props.isTime ? 'jp-Memory-chip jp-mod-time' : 'jp-Memory-chip jp-mod-on'}
      title={title}
      aria-description={title}
      onClick={props.onRemove}
    >
      <bdi>{withMarks(props.label)}</bdi>
      <closeIcon.react tag="span" className="jp-Memory-chipIcon" />
    </button>
  );
}

interface IKeepFocusProps {
  fallback(): void;
  children: ReactNode;
}

/**
 * Keeps the focus in the panel when the focused element is removed, such as a chip or a deleted hit.
 *
 * It is a class, because only `getSnapshotBeforeUpdate` sees the document before the change.
 */
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
