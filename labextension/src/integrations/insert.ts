/** Puts memories into notebooks: below the active cell, or where they are dragged. */

import { Dialog, Notification, showDialog } from '@jupyterlab/apputils';
import type { ICell } from '@jupyterlab/nbformat';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { MimeData } from '@lumino/coreutils';
import { Drag } from '@lumino/dragdrop';

import type { IItem } from '../api/types';
import { splitTitle } from '../components/shared/labels';
import { withMarks } from '../components/shared/text';
import {
  codeCell,
  fenced,
  firstLine,
  isProse,
  magicLine,
  markdownCell,
  noticesOf,
  sourceOf,
  supportsLanguage
} from '../models/cells';

/** Insert a memory as a cell, after a question if the kernel does not run its language. Resolves to whether it did. */
export async function insertItem(panel: NotebookPanel, item: IItem, trans: TranslationBundle): Promise<boolean> {
  const source = item.runnable ?? sourceOf(item);
  const kernel = languageOf(panel);
  let cell = isProse(item.lang) ? markdownCell(source) : codeCell(source);
  if (cell.cell_type === 'code' && !supportsLanguage(kernel, item.lang)) {
    const chosen = await askFor(item.lang, kernel, trans);
    if (chosen === null) {
      return false;
    }
    cell = chosen === 'code' ? cell : markdownCell(fenced(source, item.lang));
  }
  const name = splitTitle(item.title).name || firstLine(sourceOf(item));
  return insertBelow(panel, [cell], trans, name, noticesOf(item));
}

export async function insertQuery(panel: NotebookPanel, query: string, trans: TranslationBundle): Promise<void> {
  if (!supportsLanguage(languageOf(panel), 'python')) {
    Notification.warning(trans.__('%memsearch needs a notebook with a Python kernel.'), { autoClose: 5000 });
    return;
  }
  const sources = Array.from(panel.model?.cells ?? [], cell => cell.sharedModel.getSource());
  const isLoaded = sources.some(source => source.includes('load_ext jupyter_memory'));
  await insertBelow(panel, [codeCell(magicLine(query, isLoaded))], trans);
}

/** The language of a notebook's kernel, or '' while it is not known. */
export function languageOf(panel: NotebookPanel): string {
  const language = panel.model?.defaultKernelLanguage;
  return language || panel.model?.getMetadata('kernelspec')?.language || '';
}

/**
 * Insert cells below the active one, or replace that one if it is empty. Resolves to whether that was possible. What
 * has a name is named by a notification, with what else there is to say, and can be taken out again.
 */
export async function insertBelow(
  panel: NotebookPanel,
  cells: readonly ICell[],
  trans: TranslationBundle,
  name = '',
  notices = ''
): Promise<boolean> {
  const { content: notebook, model } = panel;
  if (!model || model.readOnly) {
    Notification.warning(trans.__('This notebook cannot be changed.'), { autoClose: 5000 });
    return false;
  }
  const active = notebook.activeCell;
  const { metadata, outputs } = (active?.model.toJSON() ?? {}) as Partial<ICell>;
  const hasContent = active?.model.sharedModel.getSource().trim() || (Array.isArray(outputs) && outputs.length);
  const isBlank = active !== null && !hasContent && metadata?.deletable !== false;
  const at = isBlank ? notebook.activeCellIndex : notebook.activeCellIndex + 1;
  model.sharedModel.transact(() => {
    model.sharedModel.insertCells(at, cells as Parameters<typeof model.sharedModel.insertCells>[1]);
    if (isBlank) {
      model.sharedModel.deleteCell(at + cells.length);
    }
  });
  notebook.deselectAll();
  notebook.activeCellIndex = at;
  await notebook.scrollToItem(at, 'smart');
  if (name) {
    const ids = model.sharedModel.cells.slice(at, at + cells.length).map(cell => cell.getId());
    const told =
      cells.length === 1
        ? trans.__('Inserted “%1” as cell %2.', withMarks(name), at + 1)
        : trans.__('Inserted “%1” and what follows as cells %2 to %3.', withMarks(name), at + 1, at + cells.length);
    Notification.success([told, withMarks(notices)].join(' ').trim(), {
      autoClose: 8000,
      actions: [{ label: trans.__('Undo'), callback: () => takeOut(panel, ids, isBlank) }]
    });
  }
  return true;
}

/** Take inserted cells out again, wherever they are now; the empty one that they replaced comes back. */
function takeOut({ model }: NotebookPanel, ids: readonly string[], isReplaced: boolean): void {
  const cells = model?.sharedModel;
  const places = cells?.cells.flatMap((cell, at) => (ids.includes(cell.getId()) ? [at] : [])) ?? [];
  if (cells && places.length) {
    cells.transact(() => {
      places.reverse().forEach(at => cells.deleteCell(at));
      if (isReplaced) {
        cells.insertCell(places[places.length - 1], { cell_type: 'code', source: '', metadata: {} });
      }
    });
  }
}

async function askFor(language: string, kernel: string, trans: TranslationBundle): Promise<'code' | 'markdown' | null> {
  const answer = await showDialog({
    title: trans.__('Insert %1 into a notebook of %2?', language, kernel),
    body: trans.__('The kernel of this notebook does not run %1.', language),
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      Dialog.okButton({ label: trans.__('As code'), accept: true, actions: ['code'] }),
      Dialog.okButton({ label: trans.__('As Markdown'), actions: ['markdown'] })
    ]
  });
  return answer.button.accept ? (answer.button.actions.includes('code') ? 'code' : 'markdown') : null;
}

/** The MIME type that Lab's notebooks accept. */
export const CELLS = 'application/vnd.jupyter.cells';

export function dragged(item: IItem): MimeData {
  const source = sourceOf(item);
  const cell: ICell = isProse(item.lang) ? markdownCell(source) : codeCell(source);
  const data = new MimeData();
  data.setData(CELLS, [cell]);
  data.setData('text/plain', source);
  return data;
}

/** Fetch a memory and drag it, unless the mouse button was released in the meantime; resolves to whether it was dropped. */
export async function drag(fetch: () => Promise<IItem>, event: MouseEvent): Promise<boolean> {
  const mouse = { x: event.clientX, y: event.clientY, isDown: true };
  const move = (one: MouseEvent): void => void Object.assign(mouse, { x: one.clientX, y: one.clientY });
  const up = (): void => void (mouse.isDown = false);
  document.addEventListener('mousemove', move, true);
  document.addEventListener('mouseup', up, true);
  try {
    const item = await fetch();
    if (!mouse.isDown) {
      return false;
    }
    const dragImage = document.createElement('div');
    dragImage.className = 'jp-Memory-drag';
    dragImage.textContent = withMarks(item.title || firstLine(sourceOf(item)));
    const mimeData = dragged(item);
    const action = new Drag({ mimeData, dragImage, supportedActions: 'copy', proposedAction: 'copy', source: null });
    const done = await action.start(mouse.x, mouse.y);
    action.dispose();
    return done !== 'none';
  } finally {
    document.removeEventListener('mousemove', move, true);
    document.removeEventListener('mouseup', up, true);
  }
}
