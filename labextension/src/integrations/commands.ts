/** The commands of the panel, each with a label, a description of its arguments and an icon. */

import type { CommandRegistry } from '@lumino/commands';
import type { TranslationBundle } from '@jupyterlab/translation';
import {
  addBelowIcon,
  copyIcon,
  deleteIcon,
  type LabIcon,
  launchIcon,
  notebookIcon,
  searchIcon
} from '@jupyterlab/ui-components';

import { pinIcon } from '../components/shared/icons';
import type { IPlacedHit } from '../models/hits';
import type { SearchModel } from '../models/searchModel';
import type { LabActions } from './actions';

export const CommandIDs = {
  open: 'jupyter-memory:open',
  search: 'jupyter-memory:search',
  openHit: 'jupyter-memory:open-hit',
  openHitToSide: 'jupyter-memory:open-hit-to-side',
  insert: 'jupyter-memory:insert',
  insertBelow: 'jupyter-memory:insert-below',
  copy: 'jupyter-memory:copy',
  pin: 'jupyter-memory:pin',
  forget: 'jupyter-memory:forget',
  rememberCell: 'jupyter-memory:remember-cell',
  rememberSelection: 'jupyter-memory:remember-selection',
  findRelated: 'jupyter-memory:find-related',
  indexFolder: 'jupyter-memory:index-folder',
  searchInNotebook: 'jupyter-memory:search-in-notebook'
} as const;

export interface ICommandOptions {
  commands: CommandRegistry;
  model: SearchModel;
  actions: LabActions;
  /** Show the panel, and search for a query if there is one. */
  show(query?: string): Promise<void>;
  /** The selected text of the document in front, for the search box. */
  selected(): string | undefined;
  trans: TranslationBundle;
}

export function args(properties: Record<string, { type: string; description: string }> = {}): {
  args: { type: 'object'; properties: typeof properties };
} {
  return { args: { type: 'object', properties } };
}

/** Add the commands that show the panel, and those for a hit: the selected one, or the one that `memory_id` names. */
export function addCommands(options: ICommandOptions): void {
  const { commands, model, actions, show, selected, trans } = options;
  const query = { query: { type: 'string', description: trans.__('What to search for') } };
  commands.addCommand(CommandIDs.open, {
    label: trans.__('Show Memory'),
    caption: trans.__('Search in what you wrote, ran or saved'),
    describedBy: args(query),
    execute: given => show(text(given.query) ?? selected())
  });
  commands.addCommand(CommandIDs.search, {
    label: given => (given.query ? trans.__('Search Memory for “%1”', String(given.query)) : trans.__('Search Memory')),
    caption: trans.__('Search for a text in the Memory panel'),
    icon: searchIcon,
    describedBy: args(query),
    execute: given => show(text(given.query) ?? selected() ?? model.query)
  });
  commands.addCommand(CommandIDs.searchInNotebook, {
    label: trans.__('Insert the Search as %memsearch'),
    caption: trans.__('Put the question of the Memory panel into the notebook'),
    icon: notebookIcon,
    describedBy: args(query),
    isEnabled: given => actions.hasNotebook && !!(text(given.query) ?? model.query).trim(),
    execute: given => actions.toNotebook(text(given.query) ?? model.query)
  });
  commands.addCommand(CommandIDs.insertBelow, {
    label: trans.__('Insert as a New Cell'),
    caption: trans.__('Insert code below the active cell, without running it'),
    icon: addBelowIcon,
    describedBy: args({ text: { type: 'string', description: trans.__('The code of the new cell') } }),
    isEnabled: given => actions.hasNotebook && text(given.text) !== undefined,
    execute: given => actions.insertText(text(given.text) ?? '')
  });
  addHitCommands(options);
}

function addHitCommands({ commands, model, actions, trans }: ICommandOptions): void {
  const canOpen = ({ place }: IPlacedHit): boolean => place.path !== null;
  const describedBy = args({
    memory_id: { type: 'string', description: trans.__('Which of the results; the selected one if left out') }
  });
  const addForHit = (
    id: string,
    [label, icon]: [string, LabIcon],
    execute: (found: IPlacedHit) => Promise<void> | void,
    fits: (found: IPlacedHit) => boolean = () => true
  ): void => {
    const find = (given: { memory_id?: unknown }): IPlacedHit | undefined =>
      model.find(text(given.memory_id) ?? model.selected ?? '');
    commands.addCommand(id, {
      label,
      icon,
      describedBy,
      isEnabled: given => {
        const found = find(given);
        return found !== undefined && fits(found);
      },
      execute: given => {
        const found = find(given);
        return found && execute(found);
      }
    });
  };
  const { openHit, openHitToSide, insert, copy, pin, forget } = CommandIDs;
  const open = (toSide: boolean) => (one: IPlacedHit) => actions.open(one.hit, one.place, toSide);
  addForHit(openHit, [trans.__('Open the Selected Result'), launchIcon], open(false), canOpen);
  addForHit(openHitToSide, [trans.__('Open the Selected Result to the Side'), launchIcon], open(true), canOpen);
  addForHit(
    insert,
    [trans.__('Insert the Selected Result into the Notebook'), addBelowIcon],
    one => actions.insert(one.hit),
    () => actions.hasNotebook
  );
  addForHit(copy, [trans.__('Copy the Selected Result'), copyIcon], one => actions.copy(one.hit));
  addForHit(pin, [trans.__('Pin or Unpin the Selected Result'), pinIcon], ({ hit, place }) =>
    model.edits.pin(hit.memory_id, !place.pinned)
  );
  addForHit(forget, [trans.__('Forget the Selected Result'), deleteIcon], one => model.forget(one.hit.memory_id));
}

export function text(given: unknown): string | undefined {
  return typeof given === 'string' && given ? given : undefined;
}
