/** The actions for a hit in Lab: open, insert, copy, drag, and render as Markdown. */

import { Clipboard, Notification } from '@jupyterlab/apputils';
import { type IEditorLanguageRegistry, jupyterHighlightStyle } from '@jupyterlab/codemirror';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { type IRenderMimeRegistry, MimeModel } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { TranslationBundle } from '@jupyterlab/translation';

import { ApiError, type MemoryApi, NO_MEMORY, refusalOf } from '../api/memoryApi';
import type { IHit, IItem, IPlace } from '../api/types';
import { errorText } from '../components/shared/elements';
import { codeCell, firstLine, markdownCell } from '../models/cells';
import type { IActions, ICellNearby, IRendered } from '../tokens';
import { drag, insertBelow, insertItem, insertQuery } from './insert';
import type { Opener } from './open';

interface IActionsOptions {
  api: MemoryApi;
  opener: Opener;
  notebooks: INotebookTracker | null;
  render: IActions['render'];
  highlight: IActions['highlight'];
  trans: TranslationBundle;
  onDocument(): void;
  onMissing(id: string): void;
}

/** Every action shows errors of the server as a notification, and does not throw them. */
export class LabActions implements IActions {
  constructor(private readonly _options: IActionsOptions) {
    this.render = _options.render;
    this.highlight = _options.highlight;
  }

  readonly render: IActions['render'];
  readonly highlight: IActions['highlight'];

  get hasNotebook(): boolean {
    return this._notebook !== null;
  }

  open(hit: IHit, place: IPlace, toSide: boolean): Promise<void> {
    this._options.onDocument();
    return this._use(hit.memory_id, () => this._options.opener.open(hit, place, toSide));
  }

  /** Open a memory of which no more is known than its id. */
  openMemory(memory_id: string): Promise<void> {
    const { api, opener } = this._options;
    return this._use(memory_id, async () => {
      const { place } = await api.item(memory_id);
      return opener.open({ memory_id, snippet: '', highlights: [] }, place, false);
    });
  }

  insert(hit: IHit, isRunnable = false): Promise<void> {
    return this._use(hit.memory_id, async () => {
      const panel = this._target(this._notebook);
      return panel !== null && insertItem(panel, await this._item(hit, isRunnable), this._options.trans);
    });
  }

  copy(hit: IHit): Promise<void> {
    return this._use(hit.memory_id, async () => {
      const item = await this._item(hit);
      Clipboard.copyToSystem(item.text);
      Notification.success(this._options.trans.__('Copied “%1”.', item.title || hit.title), { autoClose: 2500 });
      return true;
    });
  }

  /** Copy the address of the memory in its document. */
  async copyLink({ memory_id, title }: IHit, { path }: IPlace): Promise<void> {
    Clipboard.copyToSystem(this._options.opener.link(memory_id, path ?? ''));
    Notification.success(this._options.trans.__('Copied a link to “%1”.', title), { autoClose: 2500 });
  }

  /** The cells around are an extra of a preview: it does without them where they cannot be read. */
  around(place: IPlace): Promise<ICellNearby[]> {
    return this._options.opener.around(place).catch(() => []);
  }

  async insertCells(cells: readonly ICellNearby[]): Promise<void> {
    const panel = this._target(this._notebook);
    if (panel) {
      const made = cells.map(({ source, isCode }) => (isCode ? codeCell(source) : markdownCell(source)));
      await insertBelow(panel, made, this._options.trans, firstLine(cells[0].source));
    }
  }

  drag(hit: IHit, event: MouseEvent): Promise<void> {
    this._options.onDocument();
    return this._use(hit.memory_id, () => drag(() => this._item(hit), event));
  }

  async toNotebook(query: string): Promise<void> {
    const panel = this._target(this._notebook);
    if (panel) {
      await insertQuery(panel, query, this._options.trans);
    }
  }

  /** Insert code below the cell that holds an element, or below the active one. Resolves to whether it was inserted. */
  async insertText(source: string, beside: Element | null = null): Promise<boolean> {
    const { notebooks, trans } = this._options;
    const around = beside && notebooks?.find(one => one.node.contains(beside));
    const panel = this._target(around ?? this._notebook);
    if (!panel) {
      return false;
    }
    const { content } = panel;
    const at = content.widgets.findIndex(cell => cell.node.contains(beside));
    content.activeCellIndex = at < 0 ? content.activeCellIndex : at;
    return insertBelow(panel, [codeCell(source)], trans);
  }

  private get _notebook(): NotebookPanel | null {
    const current = this._options.notebooks?.currentWidget ?? null;
    return current?.isVisible ? current : null;
  }

  private _target(panel: NotebookPanel | null): NotebookPanel | null {
    this._options.onDocument();
    if (!panel) {
      Notification.info(this._options.trans.__('Open a notebook first.'), { autoClose: 5000 });
    }
    return panel;
  }

  /** Run a task, and count that the memory was used if the task says so. */
  private _use(memory_id: string, task: () => Promise<boolean>): Promise<void> {
    return notifyErrors(this._options.trans, async () => {
      if (await task()) {
        void this._options.api.access(memory_id);
      }
    });
  }

  private async _item({ memory_id }: IHit, isRunnable = false): Promise<IItem> {
    try {
      return await this._options.api.item(memory_id, { isRunnable });
    } catch (error) {
      if (error instanceof ApiError && error.reason === NO_MEMORY) {
        this._options.onMissing(memory_id);
      }
      throw error;
    }
  }
}

export async function notifyErrors(trans: TranslationBundle, task: () => Promise<void>): Promise<void> {
  try {
    await task();
  } catch (error) {
    Notification.error(errorText(refusalOf(error), trans), { autoClose: 8000 });
  }
}

/** Lab's highlighter. It loads the parser of a language when that is first needed. */
export function codeHighlighter(languages: IEditorLanguageRegistry): IActions['highlight'] {
  // Lab adds the rules of its colours to the page only with its first editor.
  const rules = document.createElement('style');
  rules.textContent = jupyterHighlightStyle.module?.getRules() ?? '';
  document.head.append(rules);
  return async (code, language) => {
    const box = document.createElement('div');
    await languages.highlight(code, languages.findBest(language), box);
    let at = 0;
    const tokens = Array.from(box.childNodes, node => {
      const from = at;
      at += node.textContent!.length;
      return { from, to: at, look: node instanceof Element ? node.className : '' };
    });
    return tokens.filter(({ look }) => look);
  };
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
