/** Opens a memory where it stands: the notebook at the cell, or the file at the line. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { URLExt } from '@jupyterlab/coreutils';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { IDocumentWidget } from '@jupyterlab/docregistry';
import type { FileEditor, IEditorTracker } from '@jupyterlab/fileeditor';
import type { INotebookTracker, Notebook, NotebookPanel } from '@jupyterlab/notebook';
import { ServerConnection } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { MemoryApi } from '../api/memoryApi';
import type { IPlace } from '../api/types';
import { findCell, findLine, type SnippetOf } from './locate';

/** How long a place that was jumped to is lit, in milliseconds; as long as the animation. */
const FLASH = 1600;

/** How often a notebook that is still being drawn is looked at, how long it must be calm, and what is between, in ms. */
const LOOKS = 25;
const CALM = 5;
const PAUSE = 80;

/** Names a memory in the address of a page of its own. */
const FRAGMENT = '#jupyter-memory=';

export interface IOpenerOptions {
  app: JupyterFrontEnd;
  api: MemoryApi;
  docs: IDocumentManager;
  notebooks: INotebookTracker | null;
  editors: IEditorTracker | null;
  /** Documents have tabs here; else, as in Notebook, each has a page of its own. */
  hasTabs: boolean;
  trans: TranslationBundle;
}

/** A hit, as far as it takes to open it. */
export type Openable = SnippetOf & { memory_id: string };

/** Opens documents. Where one has changed so much that the place is not found, it says so. */
export class Opener {
  constructor(private readonly _options: IOpenerOptions) {}

  /** Open a memory; to the side if it is not open yet. */
  async open(hit: Openable, place: IPlace, toSide: boolean): Promise<void> {
    const { app, docs, hasTabs, trans } = this._options;
    if (place.path === null) {
      Notification.warning(place.closed ?? trans.__('It stands in no file.'), { autoClose: 5000 });
      return;
    }
    const isClosed = !docs.findWidget(place.path);
    if (isClosed && (await this._isMissing(place.path))) {
      const message = trans.__('“%1” is not there any more. Index its folder again to update the memory.', place.path);
      Notification.warning(message, { autoClose: 8000 });
      return;
    }
    if (isClosed && !hasTabs) {
      this._openPage(place.path, hit.memory_id);
      return;
    }
    const factory = place.line !== null ? 'Editor' : 'default';
    const options = toSide ? { mode: 'split-right' as const } : {};
    const widget = docs.openOrReveal(place.path, factory, undefined, options);
    if (widget) {
      app.shell.activateById(widget.id);
      await this._goTo(widget, hit, place);
    }
  }

  /** Go to the memory that the address of this page names, if it names one. */
  async openNamed(): Promise<void> {
    const { api, docs } = this._options;
    if (!window.location.hash.startsWith(FRAGMENT)) {
      return;
    }
    const memory_id = decodeURIComponent(window.location.hash.slice(FRAGMENT.length));
    const { place } = await api.item(memory_id);
    const widget = place.path === null ? undefined : docs.findWidget(place.path);
    if (widget) {
      await this._goTo(widget, { memory_id, snippet: '', highlights: [] }, place);
    }
  }

  /** Open a page of its own: where the browser keeps it back, since the click is some seconds past, after another one. */
  private _openPage(path: string, memory_id: string): void {
    const { app, trans } = this._options;
    const url = pageOf(app.serviceManager.serverSettings.baseUrl, path, memory_id);
    if (!window.open(url)) {
      Notification.warning(trans.__('The browser kept “%1” from being opened.', path), {
        actions: [{ label: trans.__('Open'), callback: () => void window.open(url) }],
        autoClose: 20000
      });
    }
  }

  /** Whether the server knows of no such file: a tab or page for it would hold nothing but an error. */
  private async _isMissing(path: string): Promise<boolean> {
    try {
      await this._options.app.serviceManager.contents.get(path, { content: false });
      return false;
    } catch (error) {
      return error instanceof ServerConnection.ResponseError && error.response.status === 404;
    }
  }

  private async _goTo(widget: IDocumentWidget, hit: Openable, place: IPlace): Promise<void> {
    const { notebooks, editors, trans } = this._options;
    await widget.context.ready;
    await widget.revealed;
    let isSure = true;
    if (notebooks?.has(widget)) {
      isSure = await goToCell(widget as NotebookPanel, hit, place);
    } else if (editors?.has(widget)) {
      isSure = goToLine(widget as IDocumentWidget<FileEditor>, hit, place);
    }
    if (!isSure) {
      Notification.info(trans.__('The file has changed since it was indexed: this is where it was.'), {
        autoClose: 5000
      });
    }
  }
}

async function goToCell(panel: NotebookPanel, hit: Openable, place: IPlace): Promise<boolean> {
  const notebook = panel.content;
  const cells = Array.from(panel.model?.cells ?? [], cell => ({ id: cell.id, source: cell.sharedModel.getSource() }));
  const found = findCell(cells, place, hit);
  if (!found) {
    return false;
  }
  notebook.deselectAll();
  notebook.mode = 'command';
  notebook.activeCellIndex = found.at;
  await scrollTo(notebook, found.at);
  const cell = notebook.widgets[found.at];
  await cell?.ready;
  if (cell && !cell.isDisposed) {
    flash(cell.node);
  }
  await stayAt(notebook, found.at);
  return found.sure;
}

/** Scroll to a cell; Lab gives up, with an error, once something else asks to be scrolled to. */
async function scrollTo(notebook: Notebook, at: number): Promise<void> {
  await notebook.scrollToItem(at, 'smart').catch(() => undefined);
}

/** A notebook that is still being drawn may jump back to its top: scroll until the cell stays in view. */
async function stayAt(notebook: Notebook, at: number): Promise<void> {
  let [calm, left] = [0, false];
  const leave = () => void (left = true);
  notebook.node.addEventListener('wheel', leave, { once: true, passive: true });
  for (let look = 0; look < LOOKS && calm < CALM; look++) {
    await new Promise(done => setTimeout(done, PAUSE));
    if (left || notebook.isDisposed || notebook.activeCellIndex !== at) {
      break;
    }
    if (isInView(notebook, at)) {
      calm++;
    } else {
      calm = 0;
      await scrollTo(notebook, at);
    }
  }
  notebook.node.removeEventListener('wheel', leave);
}

function isInView(notebook: Notebook, at: number): boolean {
  const [cell, frame] = [notebook.widgets[at]?.node.getBoundingClientRect(), notebook.node.getBoundingClientRect()];
  return !!cell && cell.height > 0 && cell.top < frame.bottom && cell.bottom > frame.top;
}

function goToLine({ content }: IDocumentWidget<FileEditor>, hit: Openable, place: IPlace): boolean {
  const { editor, model } = content;
  const source = model.sharedModel.getSource();
  const found = findLine(source, place, hit);
  const start = { line: found.at, column: 0 };
  editor.setSelection({ start, end: { line: found.at, column: source.split('\n')[found.at].length } });
  editor.revealPosition(start);
  flash(content.node);
  return found.sure;
}

function flash(node: HTMLElement): void {
  node.classList.add('jp-Memory-flash');
  setTimeout(() => node.classList.remove('jp-Memory-flash'), FLASH);
}

function pageOf(base: string, path: string, memory_id: string): string {
  const page = path.endsWith('.ipynb') ? 'notebooks' : 'edit';
  const url = URLExt.join(base, page, URLExt.encodeParts(path));
  return `${url}${FRAGMENT}${encodeURIComponent(memory_id)}`;
}
