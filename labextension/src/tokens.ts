/** What other code may rely on: the actions that components need from Lab, and the sections of the panel. */

import type { Toolbar, VDomRenderer } from '@jupyterlab/ui-components';
import { Token } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';

import type { IHit, IPlace } from './api/types';

/** What the panel can do in Lab with a hit. `LabActions` implements it; components know nothing of Lab's shell. */
export interface IActions {
  /** Open the notebook at the cell, or the file at the line. */
  open(hit: IHit, place: IPlace, toSide: boolean): Promise<void>;
  /** Insert the memory's text below the active cell of the notebook in front, or with what it needs to run. */
  insert(hit: IHit, isRunnable?: boolean): Promise<void>;
  copy(hit: IHit): Promise<void>;
  /** The cell of a hit between those before and after it in its notebook, as they are now. */
  around(place: IPlace): Promise<ICellNearby[]>;
  /** Insert such cells below the active cell of the notebook in front. */
  insertCells(cells: readonly ICellNearby[]): Promise<void>;
  /** Start to drag a hit, to be dropped into a notebook. */
  drag(hit: IHit, event: MouseEvent): Promise<void>;
  /** Put `%memsearch …` for this query, which options may precede, into the notebook in front. */
  toNotebook(query: string): Promise<void>;
  /** Render Markdown as Lab does, or null where Lab has no renderer. */
  readonly render: ((text: string) => Promise<IRendered>) | null;
  /** The tokens of code as Lab colours them, or null where Lab has no highlighter. */
  readonly highlight: ((code: string, language: string) => Promise<IToken[]>) | null;
  /** Whether a notebook is in front that can take cells. */
  readonly hasNotebook: boolean;
}

export interface ICellNearby {
  /** 0-based. */
  index: number;
  /** Below 0 before the cell that was found, above 0 after it. */
  offset: number;
  isCode: boolean;
  source: string;
}

/** A part of a text, in UTF-16 units, and the CSS class that colours it. */
export interface IToken {
  from: number;
  to: number;
  look: string;
}

/** A rendered text; its formulas are set once it is on the page. */
export interface IRendered {
  readonly node: HTMLElement;
  typeset(): void;
  dispose(): void;
}

/** The model of a section that asks the server only while the section can be seen. */
export interface ISectionModel extends VDomRenderer.IModel {
  /** Set by the panel when the section comes into view or leaves it. */
  isOpen: boolean;
}

export interface ISection {
  readonly id: string;
  /** Its place: Results have 100, “Why this order” 200, the index 300. */
  readonly rank: number;
  /** The title, read again after each change of the model. */
  label(): string;
  readonly caption: string;
  readonly isExpanded?: boolean;
  readonly className?: string;
  readonly toolbar?: Toolbar;
  /** The section is drawn again after each change of its model. Without one, the rendered element updates itself. */
  readonly model?: ISectionModel;
  render(): JSX.Element | null;
  /** Called when the section is removed, or the panel is closed. */
  dispose?(): void;
}

export interface ISectionRegistry {
  /** Add a section, and take it out again by disposing what is returned. An id may be used once. */
  add(section: ISection): IDisposable;
}

/** The Memory panel, for other extensions. */
export interface IMemoryPanel {
  readonly registry: ISectionRegistry;
}

export const IMemoryPanel = new Token<IMemoryPanel>(
  'jupyter-memory:IMemoryPanel',
  'The Memory panel. Add a section to it with `registry.add(section)`.'
);
