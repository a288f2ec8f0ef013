import type { IHit, IPlace } from './api/types';

/** What the panel can do in Lab with a hit; commands.ts wires it, so that components know nothing of Lab's shell. */
export interface IActions {
  /** Open the notebook at the cell, or the file at the line. */
  open(hit: IHit, place: IPlace, toSide: boolean): Promise<void>;
  /** Insert the memory's text below the active cell of the notebook in front. */
  insert(hit: IHit): Promise<void>;
  /** Copy the memory's whole text. */
  copy(hit: IHit): Promise<void>;
  /** Begin to drag a hit, to be dropped into a notebook. */
  drag(hit: IHit, event: MouseEvent): Promise<void>;
  /** Put `%memsearch …` for this query into the notebook in front. */
  toNotebook(query: string): Promise<void>;
  /** Whether a notebook is in front that can take cells. */
  readonly hasNotebook: boolean;
}

/** Counts of the index, for the status bar and the panel's header. */
export interface IProgress {
  phase: 'idle' | 'indexing';
  done: number;
  total: number | null;
}
