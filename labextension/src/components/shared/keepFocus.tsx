/** Keeps the focus in the panel when the focused element is removed, such as a chip or a deleted hit. */

import { Component, createRef, type ReactNode } from 'react';

interface IKeepFocusProps {
  /** Move the focus to where a person goes on. */
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
