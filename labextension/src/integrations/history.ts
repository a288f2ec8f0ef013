/** Reads the status again when the history may have been turned on or off, or a kernel that records has ended. */

import { NotebookActions } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';

import type { SearchModel } from '../models/searchModel';

const MAGIC = /^\s*%memory\s+history\b/m;

/** Kernels may record from their start. While none does, it is looked for only every so many milliseconds. */
const SELDOM = 30_000;

export function followHistory(kernels: Kernel.IManager, model: SearchModel, isSeen: () => boolean): void {
  let looked = 0;
  const look = (): void => {
    if (isSeen() && model.status) {
      looked = Date.now();
      void model.recount();
    }
  };
  NotebookActions.executed.connect((_, { cell }) => {
    if (MAGIC.test(cell.model.sharedModel.getSource())) {
      look();
    }
  });
  // Lab notices each change of a kernel's state.
  kernels.runningChanged.connect(() => {
    if (model.status?.history.kernels || Date.now() - looked > SELDOM) {
      look();
    }
  });
}
