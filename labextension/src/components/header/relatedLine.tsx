/** A line that says how many cells are like the one a person works on; a click lists them. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { UseSignal } from '@jupyterlab/ui-components';

import type { RelatedCells } from '../../models/relatedCells';
import type { SearchModel } from '../../models/searchModel';
import { relatedIcon } from '../shared/icons';

export interface IRelatedLineProps {
  related: RelatedCells;
  model: SearchModel;
  trans: TranslationBundle;
  /** Go on to the results. */
  onDown(): void;
}

/** It keeps its place while it may come and go, so that the results below it stay where they are. */
export function RelatedLine(props: IRelatedLineProps): JSX.Element {
  return <UseSignal signal={props.related.stateChanged}>{() => <Line {...props} />}</UseSignal>;
}

function Line({ related, model, trans, onDown }: IRelatedLineProps): JSX.Element | null {
  const { count, isOn, isAnnounced } = related;
  if (!isOn || model.showing.what === 'cell') {
    return null;
  }
  const label = trans._n('%1 cell like this one', '%1 cells like this one', count, count);
  const list = async (): Promise<void> => {
    await related.show();
    onDown();
  };
  return (
    <div className="jp-Memory-relatedLine">
      {count > 0 && (
        <button
          type="button"
          className="jp-Memory-link"
          title={trans.__('Show the cells of other notebooks that are like the active cell')}
          onClick={() => void list()}
        >
          <relatedIcon.react tag="span" />
          {label}
        </button>
      )}
      <span className="jp-Memory-sr" role="status" aria-live="polite">
        {isAnnounced ? label : ''}
      </span>
    </div>
  );
}
