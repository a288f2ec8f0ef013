/** What is in front in Lab: read from the application itself, as its own commands see it. */

import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import type { FileEditor } from '@jupyterlab/fileeditor';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { DocumentWidget } from '@jupyterlab/docregistry';

export interface IActiveCell {
  path: string;
  index: number;
  id: string;
  source: string;
  /** Whether a person can see it without scrolling. */
  seen: boolean;
}

/** The active cell of the notebook in front, or null. */
export function activeCell(page: IJupyterLabPageFixture): Promise<IActiveCell | null> {
  return page.evaluate(() => {
    const panel = window.jupyterapp.shell.currentWidget as NotebookPanel | null;
    const cell = panel?.content?.activeCell;
    if (!panel || !cell) {
      return null;
    }
    const seen = cell.node.getBoundingClientRect();
    const frame = panel.content.node.getBoundingClientRect();
    return {
      path: panel.context.path,
      index: panel.content.activeCellIndex,
      id: cell.model.sharedModel.getId(),
      source: cell.model.sharedModel.getSource(),
      seen: seen.top < frame.bottom && seen.bottom > frame.top
    };
  });
}

/** The sources of all cells of the notebook in front. */
export function cells(page: IJupyterLabPageFixture): Promise<string[]> {
  return page.evaluate(() => {
    const panel = window.jupyterapp.shell.currentWidget as NotebookPanel;
    return Array.from(panel.content.model!.cells, cell => cell.sharedModel.getSource());
  });
}

/** The file in front, the 1-based line of its cursor and what stands in it, or null. */
export function cursor(page: IJupyterLabPageFixture): Promise<{ path: string; line: number; text: string } | null> {
  return page.evaluate(() => {
    const widget = window.jupyterapp.shell.currentWidget as DocumentWidget<FileEditor> | null;
    const editor = widget?.content?.editor;
    const line = editor?.getCursorPosition().line ?? 0;
    return editor ? { path: widget!.context.path, line: line + 1, text: editor.getLine(line) ?? '' } : null;
  });
}

/** Open a file as Lab does, and wait until it can be worked with. */
export function openFile(page: IJupyterLabPageFixture, path: string): Promise<void> {
  return page.evaluate(async file => {
    const widget = (await window.jupyterapp.commands.execute('docmanager:open', { path: file })) as NotebookPanel;
    await widget.context.ready;
    await widget.revealed;
  }, path);
}

/** Run a command from the palette, as typed there. */
export async function palette(page: IJupyterLabPageFixture, label: string): Promise<void> {
  await page.keyboard.press('ControlOrMeta+Shift+C');
  await page
    .getByRole('searchbox', { name: 'Command Palette Section' })
    .or(page.locator('.lm-CommandPalette-input'))
    .first()
    .fill(label);
  await page.locator('.lm-CommandPalette-item').filter({ hasText: label }).first().click();
}

/** A code cell as a file keeps it. */
export function codeCell(source: string, id: string): object {
  return { cell_type: 'code', id, execution_count: null, metadata: {}, outputs: [], source };
}
