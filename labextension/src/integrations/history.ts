/** Follows whether kernels record what they run, and offers that once. */

import { Dialog, Notification, showDialog } from '@jupyterlab/apputils';
import { NotebookActions } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import type { IStateDB } from '@jupyterlab/statedb';
import type { TranslationBundle } from '@jupyterlab/translation';

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

const OFFERED = 'jupyter-memory:history-offered';

/** Stores on a server and on Windows, where nothing is recorded. */
const REFUSED = /^(\w+:\/\/|[a-z]:)/i;

/** After the first exception in sight of the panel, say once what the history would keep, where, and how to stop it. */
export function offerHistory(
  model: SearchModel,
  isSeen: () => boolean,
  state: IStateDB,
  insert: (source: string) => Promise<boolean>,
  trans: TranslationBundle
): void {
  const explain = async (path: string): Promise<void> => {
    const { button } = await showDialog({
      title: trans.__('The history of what you run'),
      body: trans.__(
        'It keeps the code of each cell, when it ran, how it ended and its errors, but no outputs, in %1 on this machine. To stop: %2. To forget it: %3.',
        path,
        '%memory history off',
        '%memory history clear'
      ),
      buttons: [
        Dialog.cancelButton({ label: trans.__('Not now') }),
        Dialog.okButton({ label: trans.__('Insert %1', '%memory history on') })
      ]
    });
    if (button.accept) {
      await insert('%load_ext jupyter_memory\n%memory history on');
    }
  };
  const offer = async (_: unknown, { success }: { success: boolean }): Promise<void> => {
    const status = model.status;
    if (success || !isSeen() || !status || status.history.kernels || REFUSED.test(status.store.path)) {
      return;
    }
    NotebookActions.executed.disconnect(offer);
    if (await state.fetch(OFFERED)) {
      return;
    }
    await state.save(OFFERED, true);
    // Lab cuts a notification after 140 characters: what matters most before a person agrees is in the dialog.
    Notification.info(trans.__('Your history could tell how you fixed an error before. It is off.'), {
      autoClose: false,
      actions: [{ label: trans.__('What it would keep…'), callback: () => void explain(status.store.path) }]
    });
  };
  NotebookActions.executed.connect(offer);
}
