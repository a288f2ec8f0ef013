/** Opens a memory in its document: the notebook at the cell, or the file at the line. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { URLExt } from '@jupyterlab/coreutils';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { IDocumentWidget } from '@jupyterlab/docregistry';
import type { FileEditor, IEditorTracker } from '@jupyterlab/fileeditor';
import type { ICell } from '@jupyterlab/nbformat';
import type { INotebookTracker, Notebook, NotebookPanel } from '@jupyterlab/notebook';
import { ServerConnection } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { MemoryApi } from '../api/memoryApi';
import type { IHit, IPlace } from '../api/types';
import { withMarks } from '../components/shared/text';
import { firstLine } from '../models/cells';
import type { ICellNearby } from '../tokens';

/** Milliseconds for which the place is highlighted; as long as the animation in CSS. */
const FLASH = 1600;

/** A notebook may still be rendering: check it at most LOOKS times, PAUSE ms apart, until it was calm CALM times. */
const LOOKS = 25;
const CALM = 5;
const PAUSE = 80;

/** Comes before the id of the memory in the address of a page in Notebook 7. */
const FRAGMENT = '#jupyter-memory=';

interface IOpenerOptions {
  app: JupyterFrontEnd;
  api: MemoryApi;
  docs: IDocumentManager;
  notebooks: INotebookTracker | null;
  editors: IEditorTracker | null;
  /** Whether documents have tabs, as in Lab; in Notebook 7 each has a page of its own. */
  hasTabs: boolean;
  trans: TranslationBundle;
}

type Openable = SnippetOf & { memory_id: string };

/** Opens documents, and says so if a place is not found because the document has changed. */
export class Opener {
  constructor(private readonly _options: IOpenerOptions) {}

  /** Open a memory; `toSide` opens a closed document beside the current one. Resolves to whether there was one to open. */
  async open(hit: Openable, place: IPlace, toSide: boolean): Promise<boolean> {
    const { app, docs, hasTabs, trans } = this._options;
    if (place.path === null) {
      Notification.warning(withMarks(place.closed ?? trans.__('It is in no file.')), { autoClose: 5000 });
      return false;
    }
    const isClosed = !docs.findWidget(place.path);
    // A tab or page for a missing file would only show an error.
    const isMissing = (error: unknown): boolean =>
      error instanceof ServerConnection.ResponseError && error.response.status === 404;
    const { contents } = app.serviceManager;
    if (isClosed && (await contents.get(place.path, { content: false }).then(() => false, isMissing))) {
      const message = trans.__(
        '“%1” no longer exists. Index its folder again to update the memory.',
        withMarks(place.path)
      );
      Notification.warning(message, { autoClose: 8000 });
      return false;
    }
    if (isClosed && !hasTabs) {
      openPage(this.link(hit.memory_id, place.path), place.path, trans);
      return true;
    }
    const factory = place.line !== null ? 'Editor' : 'default';
    const options = toSide ? { mode: 'split-right' as const } : {};
    const widget = docs.openOrReveal(place.path, factory, undefined, options);
    if (widget) {
      app.shell.activateById(widget.id);
      await this._goTo(widget, hit, place);
    }
    return widget !== undefined;
  }

  /** The address of a memory's document in Lab, or in Notebook 7 where the memory is opened in that. */
  link(memory_id: string, path: string): string {
    const { app, hasTabs } = this._options;
    const page = hasTabs ? 'lab/tree' : path.endsWith('.ipynb') ? 'notebooks' : 'edit';
    const address = URLExt.join(app.serviceManager.serverSettings.baseUrl, page, URLExt.encodeParts(path));
    return new URL(address + FRAGMENT + encodeURIComponent(memory_id), location.href).href;
  }

  /** The cell of a place between its neighbours in its notebook: of the open one, else of the file. */
  async around(place: IPlace): Promise<ICellNearby[]> {
    const { app, docs } = this._options;
    if (!place.path?.endsWith('.ipynb')) {
      return [];
    }
    const model = (docs.findWidget(place.path) as NotebookPanel | undefined)?.content.model;
    const file =
      model ?? (await app.serviceManager.contents.get(place.path, { type: 'notebook', content: true })).content;
    const { cells } = (model ? model.toJSON() : file) as { cells: (ICell & { id?: string })[] };
    const sources = cells.map(({ id = '', source }) => ({ id, source: [source].flat().join('') }));
    const found = findCell(sources, place, { snippet: '', highlights: [] });
    const near = found?.sure ? [-1, 0, 1].map(offset => ({ offset, index: found.at + offset })) : [];
    return near
      .filter(({ index }) => sources[index]?.source.trim())
      .map(one => ({ ...one, isCode: cells[one.index].cell_type === 'code', source: sources[one.index].source }));
  }

  /** Go to the memory that the address of this page names, if any. */
  async openNamed(): Promise<void> {
    const { api, docs } = this._options;
    const { hash } = window.location;
    if (!hash.startsWith(FRAGMENT)) {
      return;
    }
    const memory_id = decodeURIComponent(hash.slice(FRAGMENT.length));
    const { place } = await api.item(memory_id);
    const widget = place.path === null ? undefined : docs.findWidget(place.path);
    if (widget) {
      await this._goTo(widget, { memory_id, snippet: '', highlights: [] }, place);
    }
  }

  private async _goTo(widget: IDocumentWidget, hit: Openable, place: IPlace): Promise<void> {
    const { notebooks, editors, trans } = this._options;
    await widget.context.ready;
    await widget.revealed;
    let isSure = true;
    if (notebooks?.has(widget)) {
      const panel = widget as NotebookPanel;
      const isThere = Array.from(panel.model?.cells ?? []).some(one => one.id === place.cell);
      // Another cell with the same first line is not what ran.
      if (place.run && place.cell !== null && !isThere) {
        Notification.info(trans.__('The cell that ran is no longer in this notebook.'), { autoClose: 5000 });
        return;
      }
      isSure = await goToCell(panel, hit, place);
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

/** Scroll to a cell. Lab throws an error when another scroll request interrupts it. */
async function scrollTo(notebook: Notebook, at: number): Promise<void> {
  await notebook.scrollToItem(at, 'smart').catch(() => undefined);
}

/** A notebook that is still rendering may jump back to its top: scroll until the cell stays in view. */
async function stayAt(notebook: Notebook, at: number): Promise<void> {
  let [calm, left] = [0, false];
  const leave = () => void (left = true);
  notebook.node.addEventListener('wheel', leave, { once: true, passive: true });
  for (let look = 0; look < LOOKS && calm < CALM; look++) {
    await new Promise(done => setTimeout(done, PAUSE));
    if (left || notebook.isDisposed || notebook.activeCellIndex !== at) {
      break;
    }
    const cell = notebook.widgets[at]?.node.getBoundingClientRect();
    const frame = notebook.node.getBoundingClientRect();
    if (cell?.height > 0 && cell.top < frame.bottom && cell.bottom > frame.top) {
      calm++;
    } else {
      calm = 0;
      await scrollTo(notebook, at);
    }
  }
  notebook.node.removeEventListener('wheel', leave);
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

/** Open a document in a page of its own. If the browser blocks it, a notification offers a second click. */
function openPage(url: string, path: string, trans: TranslationBundle): void {
  if (!window.open(url)) {
    Notification.warning(trans.__('The browser blocked “%1”.', withMarks(path)), {
      actions: [{ label: trans.__('Open'), callback: () => void window.open(url) }],
      autoClose: 20000
    });
  }
}

type SnippetOf = Pick<IHit, 'snippet' | 'highlights'>;

interface ILocation {
  /** 0-based. */
  at: number;
  sure: boolean;
}

/** The cell of a memory: by its id, or else the nearest one with the same first line or with the snippet. */
export function findCell(
  cells: readonly { id: string; source: string }[],
  place: IPlace,
  hit: SnippetOf
): ILocation | null {
  if (!cells.length) {
    return null;
  }
  const byId = cells.findIndex(cell => cell.id === place.cell);
  if (byId >= 0) {
    return { at: byId, sure: true };
  }
  const near = Math.min(place.index ?? 0, cells.length - 1);
  const begins = place.begins.trim();
  const same = begins ? nearest(cells, near, cell => firstLine(cell.source) === begins) : null;
  const words = same ?? nearest(cells, near, cell => offsetOf(cell.source, 0, hit) !== null);
  return words === null ? { at: near, sure: false } : { at: words, sure: true };
}

/** The line of a hit's first highlight, searched from the indexed line on; the indexed line if it is not found. */
export function findLine(source: string, place: IPlace, hit: SnippetOf): ILocation {
  const lines = source.split('\n');
  const near = Math.min(Math.max((place.line ?? 1) - 1, 0), lines.length - 1);
  const from = place.changed ? 0 : lines.slice(0, near).reduce((sum, line) => sum + line.length + 1, 0);
  const offset = offsetOf(source, from, hit);
  return offset === null
    ? { at: near, sure: !place.changed }
    : { at: source.slice(0, offset).split('\n').length - 1, sure: true };
}

/** The offset of a snippet's first highlight in a text, or of the snippet, or null. White space may differ. */
function offsetOf(source: string, from: number, { snippet, highlights }: SnippetOf): number | null {
  const ahead = /^[…\s]*/.exec(snippet)![0].length;
  const words = snippet.slice(ahead).replace(/[…\s]+$/, '');
  if (!words) {
    return null;
  }
  const first = Math.min(...highlights.map(([start]) => start));
  // The server counts code points.
  const mark = highlights.length ? Math.max([...snippet].slice(0, first).join('').length - ahead, 0) : 0;
  // One group before the highlight and one from there on: the text is searched once.
  const found = new RegExp(`(${loosely(words.slice(0, mark))})${loosely(words.slice(mark))}`).exec(source.slice(from));
  return found ? from + found.index + found[1].length : null;
}

function loosely(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+');
}

function nearest<T>(things: readonly T[], near: number, fits: (thing: T) => boolean): number | null {
  const fitting = things.flatMap((thing, at) => (fits(thing) ? [at] : []));
  return fitting.sort((a, b) => Math.abs(a - near) - Math.abs(b - near))[0] ?? null;
}
