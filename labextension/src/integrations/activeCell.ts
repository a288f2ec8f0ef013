/** Tells which cell a person works on, and when it or its text changes. */

import type { INotebookTracker, Notebook } from '@jupyterlab/notebook';

import type { RelatedCells } from '../models/relatedCells';

type Cell = NonNullable<Notebook['activeCell']>;

/** Let a model follow the active cell of the notebook in front. */
export function followActiveCell(notebooks: INotebookTracker | null, related: RelatedCells): void {
  let model: Cell['model'] | undefined;
  const tell = (): void => {
    const panel = notebooks?.currentWidget;
    const cell = panel?.content.activeCell;
    const isThere = panel && cell && !cell.isDisposed;
    related.follow(
      isThere ? { text: cell.model.sharedModel.getSource(), path: panel.context.localPath, id: cell.model.id } : null
    );
  };
  const change = (): void => {
    model?.contentChanged.disconnect(tell);
    model = notebooks?.currentWidget?.content.activeCell?.model;
    model?.contentChanged.connect(tell);
    tell();
  };
  notebooks?.activeCellChanged.connect(change);
  notebooks?.currentChanged.connect(change);
  // The cell may have been there before.
  change();
}
