/** Reads the status again when the history may have been turned on or off, or a kernel that records has ended. */

import { NotebookActions } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';

import type { SearchModel } from '../models/searchModel';

/** A line that turns the history on or off, or removes it. */
const MAGIC = /^\s*%memory\s+history\b/m;

/** Keep the sign of the history up to date as long as somebody can see it. */
export function followHistory(kernels: Kernel.IManager, model: SearchModel, isSeen: () => boolean): void {
  NotebookActions.executed.connect((_, { cell }) => {
    if (isSeen() && MAGIC.test(cell.model.sharedModel.getSource())) {
      void model.recount();
    }
  });
  kernels.runningChanged.connect(() => {
    if (isSeen() && model.status?.history.kernels) {
      void model.recount();
    }
  });
}
