/** The actions for a hit in Lab: open, insert, copy, drag. */

import { Clipboard, Notification } from '@jupyterlab/apputils';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';

import { ApiError, type MemoryApi, NO_MEMORY } from '../api/memoryApi';
import type { IHit, IItem, IPlace } from '../api/types';
import { errorText } from '../components/shared/errorMessage';
import type { IActions } from '../tokens';
import { drag } from './drag';
import { insertItem, insertQuery } from './insert';
import type { Opener } from './open';

export interface IActionsOptions {
  api: MemoryApi;
  opener: Opener;
  notebooks: INotebookTracker | null;
  trans: TranslationBundle;
  /** Called with the id of a memory that no longer exists. */
  onMissing(id: string): void;
}

/** Every action shows errors of the server as a notification, and does not throw them. */
export class LabActions implements IActions {
  constructor(private readonly _options: IActionsOptions) {}

  get hasNotebook(): boolean {
    return this.notebook !== null;
  }

  /** The visible notebook, or null. */
  get notebook(): NotebookPanel | null {
    const current = this._options.notebooks?.currentWidget ?? null;
    return current?.isVisible ? current : null;
  }

  open(hit: IHit, place: IPlace, toSide: boolean): Promise<void> {
    return notifyErrors(this._options.trans, () => this._options.opener.open(hit, place, toSide));
  }

  insert(hit: IHit): Promise<void> {
    return this._intoNotebook(async panel => {
      await insertItem(panel, await this._item(hit), this._options.trans);
    });
  }

  copy(hit: IHit): Promise<void> {
    const { trans } = this._options;
    return notifyErrors(trans, async () => {
      const item = await this._item(hit);
      Clipboard.copyToSystem(item.text);
      Notification.success(trans.__('Copied “%1”.', item.title || hit.title), { autoClose: 2500 });
    });
  }

  drag(hit: IHit, event: MouseEvent): Promise<void> {
    return notifyErrors(this._options.trans, () => drag(() => this._item(hit), event));
  }

  toNotebook(query: string): Promise<void> {
    return this._intoNotebook(panel => insertQuery(panel, query, this._options.trans));
  }

  /** The whole memory of a hit. If it no longer exists, the hit is removed from the list. */
  private async _item({ memory_id }: IHit): Promise<IItem> {
    try {
      return await this._options.api.item(memory_id);
    } catch (error) {
      if (error instanceof ApiError && error.reason === NO_MEMORY) {
        this._options.onMissing(memory_id);
      }
      throw error;
    }
  }

  private _intoNotebook(put: (panel: NotebookPanel) => Promise<void>): Promise<void> {
    const panel = this.notebook;
    if (!panel) {
      Notification.info(this._options.trans.__('Open a notebook first.'), { autoClose: 5000 });
      return Promise.resolve();
    }
    return notifyErrors(this._options.trans, () => put(panel));
  }
}

/** Run a task, and show an error of the server as a notification. */
export async function notifyErrors(trans: TranslationBundle, task: () => Promise<void>): Promise<void> {
  try {
    await task();
  } catch (error) {
    if (!(error instanceof ApiError)) {
      throw error;
    }
    Notification.error(errorText(error, trans), { autoClose: 8000 });
  }
}
