/** Keeps the keyboard in the panel when what had it is taken away: a chip that is removed, a hit that is forgotten. */

import { Component, createRef, type ReactNode } from 'react';

interface IKeepFocusProps {
  /** Put the keyboard where a person goes on. */
  fallback(): void;
  children: ReactNode;
}

/** A class, since nothing else sees the document before it is changed. */
export class KeepFocus extends Component<IKeepFocusProps> {
  override getSnapshotBeforeUpdate(): Element | null {
    const had = document.activeElement;
    return this._frame.current?.contains(had) ? had : null;
  }

  override componentDidUpdate(_props: IKeepFocusProps, _state: object, had: Element | null): void {
    // What is further in may have found a place for it already.
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
