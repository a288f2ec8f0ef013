/** The search from anywhere: the panel's question and hits above the window, with a preview beside them. */

import { ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import { Widget } from '@lumino/widgets';
import { type KeyboardEvent, useEffect, useRef } from 'react';

import { focusBox, Header } from './header/header';
import { type IHitListProps, intent } from './results/hitList';
import { focusList, Results } from './results/results';
import { Peek } from './results/wholeText';

interface IOverlayOptions extends Omit<IHitListProps, 'onLeave'> {
  /** What cannot be used meanwhile. */
  behind: HTMLElement;
  /** Give the keyboard to the document in front. */
  toDocument(): void;
}

/** Takes the hits over from the panel while it is open: they are the same, and so is their state. */
export class Overlay extends ReactWidget {
  constructor(private readonly _options: IOverlayOptions) {
    super();
    this.addClass('jp-Memory');
    this.addClass('jp-Memory-overlay');
    this.node.setAttribute('role', 'dialog');
    this.node.setAttribute('aria-modal', 'true');
    this.node.setAttribute('aria-label', _options.trans.__('Search Memory'));
    this.node.addEventListener('pointerdown', event => event.target === this.node && this.close());
  }

  open(): void {
    const { model, behind } = this._options;
    if (this.isAttached) {
      return focusBox(this.node);
    }
    this._before = document.activeElement;
    behind.inert = true;
    model.selection.set({ overlaid: true });
    Widget.attach(this, document.body);
    if (!model.status && !model.isLoading) {
      void model.refresh();
    }
  }

  /** Close it, and give the keyboard back. */
  override close(): void {
    if (this.isAttached) {
      Widget.detach(this);
      this._options.behind.inert = false;
      this._options.model.selection.set({ overlaid: false });
      if (this._before instanceof HTMLElement && this._before !== document.body && this._before.isConnected) {
        this._before.focus();
      } else {
        this._options.toDocument();
      }
    }
  }

  protected override render(): JSX.Element {
    const { model } = this._options;
    return (
      <UseSignal signal={model.stateChanged}>
        {() => <Search {...this._options} onClose={() => this.close()} />}
      </UseSignal>
    );
  }

  private _before: Element | null = null;
}

function Search(props: IOverlayOptions & { onClose(): void }): JSX.Element {
  const { model, actions, trans } = props;
  const box = useRef<HTMLDivElement>(null);
  const found = model.find(model.selected ?? '') ?? model.hits[0];
  useEffect(() => focusBox(box.current), []);
  const toBox = (): void => focusBox(box.current);
  const onKey = (event: KeyboardEvent): void => {
    const target = event.target as Element;
    const intended = event.nativeEvent.isComposing ? null : intent(event);
    // A menu of the filters and the line for tags are left first.
    const isLeft = intended?.do === 'leave' && !target.closest('.jp-Memory-filters, .jp-Memory-tagEditor');
    const isAnswered = found && target.matches('[type="search"]') && !model.isLoading && !model.answers.isBehind;
    if (isLeft) {
      props.onClose();
    } else if (isAnswered && intended?.do === 'open' && found.place.path !== null) {
      void actions.open(found.hit, found.place, intended.toSide);
    } else if (isAnswered && intended?.do === 'insert') {
      void actions.insert(found.hit);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={box} className="jp-Memory-window" onKeyDownCapture={onKey}>
      <Header model={model} trans={trans} onDown={() => focusList(box.current)} />
      <div className="jp-Memory-panes">
        <div className="jp-Memory-results">
          <Results {...props} isOverlay onLeave={toBox} />
        </div>
        {found && (
          <div className="jp-Memory-results jp-Memory-peek">
            <Peek key={found.hit.memory_id} {...{ model, actions, trans, found }} onLeave={toBox} />
          </div>
        )}
      </div>
      <p className="jp-Memory-foot">{trans.__('Enter opens, Ctrl Enter inserts, Escape closes.')}</p>
    </div>
  );
}
