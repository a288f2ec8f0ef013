/** The toggle of a hit into which those of its section are folded. It lies over the title: an option holds no button. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { caretRightIcon } from '@jupyterlab/ui-components';

import type { ISection } from './hitList';

interface ISectionToggleProps {
  section: ISection;
  title: string;
  row: number;
  isStop: boolean;
  trans: TranslationBundle;
  onTurn(isOpen: boolean): void;
}

export function SectionToggle(props: ISectionToggleProps): JSX.Element {
  const { trans } = props;
  const { more, isOpen } = props.section;
  return (
    <button
      type="button"
      className="jp-Memory-unfold jp-mod-section"
      style={{ gridRow: props.row }}
      tabIndex={props.isStop ? 0 : -1}
      title={isOpen ? trans.__('Fold the section') : trans._n('%1 more cell', '%1 more cells', more)}
      aria-label={trans._n('%1 more cell of %2', '%1 more cells of %2', more, props.title)}
      aria-expanded={isOpen}
      onClick={() => props.onTurn(!isOpen)}
    >
      <caretRightIcon.react tag="span" />
    </button>
  );
}
