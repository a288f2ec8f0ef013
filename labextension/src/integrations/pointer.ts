/** The cell or selection that a person points at, as a query, as a note, or as an indexed memory. */

import { PathExt } from '@jupyterlab/coreutils';
import type { IEditorTracker } from '@jupyterlab/fileeditor';
import type { INotebookTracker, Notebook, NotebookPanel } from '@jupyterlab/notebook';

import type { IAdd, MemoryApi } from '../api/memoryApi';
import type { IItem, IPlace } from '../api/types';
import type { RelatedCells } from '../models/relatedCells';
import { OUTPUTS } from '../models/cells';
import { languageOf } from './insert';

/** Characters of a query: more would not change its answer. */
const MAX_QUERY = 2000;

const MAX_OUTPUT = 4000;

type Cell = NonNullable<Notebook['activeCell']>;

export interface IPointed {
  text: string;
  lang: string;
  path: string;
  cell: string | null;
  /** 0-based index of the cell, or null. */
  index: number | null;
}

interface IPointerOptions {
  notebooks: INotebookTracker | null;
  editors: IEditorTracker | null;
  /** The first element under the context menu that fits. */
  clicked(fits: (node: HTMLElement) => boolean): HTMLElement | undefined;
}

/** Finds what a person points at in the document in front. */
export class Pointer {
  constructor(private readonly _options: IPointerOptions) {}

  /** The active cell, or the one under the context menu, with its text outputs. */
  cell(isClicked = false): IPointed | null {
    const panel = visible(this._options.notebooks?.currentWidget);
    // A right click on an output does not activate its cell.
    const node = isClicked ? this._options.clicked(one => one.classList.contains('jp-Cell')) : undefined;
    const cell = panel?.content.widgets.find(one => one.node === node) ?? panel?.content.activeCell;
    const source = cell?.model.sharedModel.getSource() ?? '';
    if (!panel || !cell || !source.trim()) {
      return null;
    }
    const outputs = textOutputs(cell.model);
    return { ...inCell(panel, cell), text: outputs ? source + OUTPUTS + outputs : source };
  }

  get selection(): IPointed | null {
    const panel = visible(this._options.notebooks?.currentWidget);
    const cell = panel?.content.activeCell;
    if (panel && cell) {
      const text = selectedIn(cell.editor) || selectedOnPage(panel.node);
      return text ? { ...inCell(panel, cell), text } : null;
    }
    const file = visible(this._options.editors?.currentWidget);
    const text = file ? selectedIn(file.content.editor) : '';
    return file && text
      ? { text, lang: languageOfFile(file.context.path), path: file.context.path, cell: null, index: null }
      : null;
  }
}

export function noteFrom({ text, lang, path, cell }: Omit<IPointed, 'index'>): IAdd {
  const from = { path, ...(cell && { cell }) };
  return { text, lang, kind: 'note', ...(path && { metadata: { from } }) };
}

/** Id of the indexed memory of a file or of one of its cells, or null. */
export async function findMemory(api: MemoryApi, path: string, cell: IPointed | null): Promise<string | null> {
  const { root } = await api.status();
  const absolute = path ? `${root.replace(/\/$/, '')}/${path}` : root;
  const { hits, places } = await api.browse({ limit: 500, filters: { path: [absolute] } });
  const at = cell === null ? 0 : places.findIndex(place => isAt(place, cell));
  return hits[at]?.memory_id ?? null;
}

export function toQuery(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, MAX_QUERY);
}

/** The words of a cell without its outputs: nothing in them is a filter or an operator of a question. */
export function wordsOf(cell: string): string {
  return toQuery(cell.split(OUTPUTS, 1)[0].replace(/[^\p{L}\p{N}_.]+/gu, ' '));
}

export function queryFromPath(path: string): string {
  const name = PathExt.basename(path, PathExt.extname(path));
  return name.replace(/[_\W]+/g, ' ').trim();
}

export function displayTitle(item: IItem): string {
  const text = item.title || item.text.trimStart().split('\n', 1)[0];
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

/** Old notebooks have no cell ids: there the index decides, if the first line is still the same. */
function isAt(place: IPlace, cell: IPointed): boolean {
  if (place.cell !== null) {
    return place.cell === cell.cell;
  }
  const begins = place.begins.trim();
  return place.index === cell.index && begins !== '' && cell.text.trimStart().startsWith(begins);
}

function visible<T extends { isVisible: boolean }>(widget: T | null | undefined): T | null {
  return widget?.isVisible ? widget : null;
}

function inCell(panel: NotebookPanel, cell: Cell): IPointed {
  const lang = cell.model.type === 'code' ? languageOf(panel) : 'markdown';
  const index = panel.content.widgets.indexOf(cell);
  return { text: '', lang, path: panel.context.path, cell: cell.model.id, index };
}

function selectedIn(editor: Cell['editor']): string {
  if (!editor) {
    return '';
  }
  const { start, end } = editor.getSelection();
  const [from, to] = [editor.getOffsetAt(start), editor.getOffsetAt(end)];
  return editor.model.sharedModel.getSource().slice(Math.min(from, to), Math.max(from, to)).trim();
}

function selectedOnPage(node: HTMLElement): string {
  const selection = window.getSelection();
  return selection?.anchorNode && node.contains(selection.anchorNode) ? selection.toString().trim() : '';
}

function textOutputs(model: Cell['model']): string {
  const outputs = (model.toJSON().outputs ?? []) as { text?: unknown; data?: Record<string, unknown> }[];
  const texts = outputs.map(output => [output.text ?? output.data?.['text/plain'] ?? ''].flat().join(''));
  const whole = texts.filter(text => text).join('\n');
  return whole.slice(0, MAX_OUTPUT);
}

function languageOfFile(path: string): string {
  const known: Record<string, string> = { py: 'python', md: 'markdown', r: 'r', jl: 'julia', sql: 'sql', sh: 'bash' };
  return known[PathExt.extname(path).slice(1).toLowerCase()] ?? '';
}

export function followActiveCell(notebooks: INotebookTracker | null, related: RelatedCells): void {
  let model: Cell['model'] | undefined;
  const tell = (): void => {
    const panel = notebooks?.currentWidget;
    const cell = panel?.content.activeCell;
    const isThere = panel && cell && !cell.isDisposed;
    related.follow(
      isThere ? { text: cell.model.sharedModel.getSource(), path: panel.context.localPath, id: cell.model.id } : null
    );
  };
  const change = (): void => {
    model?.contentChanged.disconnect(tell);
    model = notebooks?.currentWidget?.content.activeCell?.model;
    model?.contentChanged.connect(tell);
    tell();
  };
  notebooks?.activeCellChanged.connect(change);
  notebooks?.currentChanged.connect(change);
  // The cell may have been there before.
  change();
}
