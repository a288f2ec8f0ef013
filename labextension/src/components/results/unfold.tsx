/** The toggle of a row: of its whole text, or of the section whose hits are folded into it. */

import { caretRightIcon } from '@jupyterlab/ui-components';

interface IUnfoldProps {
  row: number;
  isOpen: boolean;
  isStop: boolean;
  look: string;
  title: string;
  label: string;
  controls?: string;
  onTurn(): void;
  onLeave?(): void;
}

export function Unfold(props: IUnfoldProps): JSX.Element {
  return (
    <button
      type="button"
      className={`jp-Memory-unfold ${props.look}`}
      style={{ gridRow: props.row }}
      tabIndex={props.isStop ? 0 : -1}
      title={props.title}
      aria-label={props.label}
      aria-expanded={props.isOpen}
      aria-controls={props.controls}
      onClick={props.onTurn}
      onKeyDown={event => event.key === 'Escape' && props.onLeave?.()}
    >
      <caretRightIcon.react tag="span" />
    </button>
  );
}
