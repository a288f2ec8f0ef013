/** The actions for a hit in Lab: open, insert, copy, drag, and render as Markdown. */

import { Clipboard, Notification } from '@jupyterlab/apputils';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { type IRenderMimeRegistry, MimeModel } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { TranslationBundle } from '@jupyterlab/translation';

import { ApiError, type MemoryApi, NO_MEMORY } from '../api/memoryApi';
import type { IHit, IItem, IPlace } from '../api/types';
import { errorText } from '../components/shared/elements';
import { codeCell } from '../models/cells';
import type { IActions, IRendered } from '../tokens';
import { drag, insertBelow, insertItem, insertQuery } from './insert';
import type { Opener } from './open';

export interface IActionsOptions {
  api: MemoryApi;
  opener: Opener;
  notebooks: INotebookTracker | null;
  render: IActions['render'];
  trans: TranslationBundle;
  onMissing(id: string): void;
}

/** Every action shows errors of the server as a notification, and does not throw them. */
export class LabActions implements IActions {
  constructor(private readonly _options: IActionsOptions) {}

  get render(): IActions['render'] {
    return this._options.render;
  }

  get hasNotebook(): boolean {
    return this.notebook !== null;
  }

  get notebook(): NotebookPanel | null {
    const current = this._options.notebooks?.currentWidget ?? null;
    return current?.isVisible ? current : null;
  }

  open(hit: IHit, place: IPlace, toSide: boolean): Promise<void> {
    const { api, opener, trans } = this._options;
    return notifyErrors(trans, async () => {
      if (await opener.open(hit, place, toSide)) {
        void api.access(hit.memory_id);
      }
    });
  }

  openMemory(memory_id: string): Promise<void> {
    const { api, opener, trans } = this._options;
    return notifyErrors(trans, async () => {
      const { place } = await api.item(memory_id);
      if (await opener.open({ memory_id, snippet: '', highlights: [] }, place, false)) {
        void api.access(memory_id);
      }
    });
  }

  insert(hit: IHit): Promise<void> {
    const { api, trans } = this._options;
    return this._intoNotebook(async panel => {
      if (await insertItem(panel, await this._item(hit), trans)) {
        void api.access(hit.memory_id);
      }
    });
  }

  copy(hit: IHit): Promise<void> {
    const { trans } = this._options;
    return notifyErrors(trans, async () => {
      const item = await this._item(hit);
      Clipboard.copyToSystem(item.text);
      void this._options.api.access(hit.memory_id);
      Notification.success(trans.__('Copied “%1”.', item.title || hit.title), { autoClose: 2500 });
    });
  }

  drag(hit: IHit, event: MouseEvent): Promise<void> {
    const { api, trans } = this._options;
    return notifyErrors(trans, async () => {
      if (await drag(() => this._item(hit), event)) {
        void api.access(hit.memory_id);
      }
    });
  }

  toNotebook(query: string): Promise<void> {
    return this._intoNotebook(panel => insertQuery(panel, query, this._options.trans));
  }

  /**
   * Insert code as a new cell, without running it: below the cell that holds an element, or below the active one.
   *
   * Resolves to whether it was inserted.
   */
  async insertText(source: string, beside: Element | null = null): Promise<boolean> {
    const { notebooks, trans } = this._options;
    const panel = beside && notebooks?.find(one => one.node.contains(beside));
    let isInserted = false;
    await this._into(panel ?? this.notebook, async one => {
      const { content } = one;
      const at = content.widgets.findIndex(cell => cell.node.contains(beside));
      content.activeCellIndex = at < 0 ? content.activeCellIndex : at;
      isInserted = await insertBelow(one, codeCell(source), trans);
    });
    return isInserted;
  }

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
    return this._into(this.notebook, put);
  }

  private _into(panel: NotebookPanel | null, put: (panel: NotebookPanel) => Promise<void>): Promise<void> {
    if (!panel) {
      Notification.info(this._options.trans.__('Open a notebook first.'), { autoClose: 5000 });
      return Promise.resolve();
    }
    return notifyErrors(this._options.trans, () => put(panel));
  }
}

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

const MARKDOWN = 'text/markdown';

/** Elements that load what they name. A picture is replaced by its description. */
const LOADING = 'audio, embed, iframe, image, img, input, link, object, picture, source, svg, track, video';

export function markdownRenderer(registry: IRenderMimeRegistry): (text: string) => Promise<IRendered> {
  const own = registry.clone({ sanitizer: offline(registry.sanitizer), resolver: undefined, linkHandler: undefined });
  return async text => {
    const renderer = own.createRenderer(MARKDOWN);
    await renderer.renderModel(new MimeModel({ trusted: false, data: { [MARKDOWN]: text } }));
    return {
      node: renderer.node,
      typeset: () => own.latexTypesetter?.typeset(renderer.node),
      dispose: () => renderer.dispose()
    };
  };
}

/** A sanitizer that also takes out what would open a connection, and links that lead into the page itself. */
export function offline(sanitizer: IRenderMime.ISanitizer): IRenderMime.ISanitizer {
  return {
    ...sanitizer,
    sanitize: (dirty, options) => {
      // A parsed document is inert: nothing of it is loaded.
      const page = new DOMParser().parseFromString(sanitizer.sanitize(dirty, options), 'text/html');
      for (const element of page.querySelectorAll(LOADING)) {
        element.replaceWith(element.getAttribute('alt') ?? '');
      }
      for (const element of page.querySelectorAll('[style*="url" i], [background], [srcset]')) {
        ['style', 'background', 'srcset'].forEach(name => element.removeAttribute(name));
      }
      for (const link of page.querySelectorAll('a[href]')) {
        if (!/^(https?:|mailto:)/i.test(link.getAttribute('href')!)) {
          link.removeAttribute('href');
        }
      }
      return page.body.innerHTML;
    }
  };
}
