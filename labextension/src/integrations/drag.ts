/** Drags a memory out of the panel: a notebook takes it as a cell, an editor as text. */

import type { ICell } from '@jupyterlab/nbformat';
import { MimeData } from '@lumino/coreutils';
import { Drag } from '@lumino/dragdrop';

import type { IItem } from '../api/types';
import { codeCell, isProse, markdownCell, sourceOf } from '../models/cells';
import { withMarks } from '../components/shared/withMarks';

/** The MIME type that Lab's notebooks accept. */
export const CELLS = 'application/vnd.jupyter.cells';

/** The data of a dragged memory. */
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
    return mouse.isDown && (await start(item, mouse.x, mouse.y));
  } finally {
    document.removeEventListener('mousemove', move, true);
    document.removeEventListener('mouseup', up, true);
  }
}

async function start(item: IItem, x: number, y: number): Promise<boolean> {
  const image = document.createElement('div');
  image.className = 'jp-Memory-drag';
  image.textContent = withMarks(item.title || sourceOf(item).trimStart().split('\n', 1)[0]);
  const action = new Drag({
    mimeData: dragged(item),
    dragImage: image,
    supportedActions: 'copy',
    proposedAction: 'copy',
    source: null
  });
  const done = await action.start(x, y);
  action.dispose();
  return done !== 'none';
}
