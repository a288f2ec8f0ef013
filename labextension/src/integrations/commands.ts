/** The commands of the panel, each with a label, a description of its arguments and an icon. */

import type { CommandRegistry } from '@lumino/commands';
import type { TranslationBundle } from '@jupyterlab/translation';
import {
  addBelowIcon,
  caretDownIcon,
  copyIcon,
  deleteIcon,
  infoIcon,
  type LabIcon,
  launchIcon,
  linkIcon,
  notebookIcon,
  searchIcon
} from '@jupyterlab/ui-components';

import { pinIcon, relatedIcon, tagsIcon, usefulIcon, uselessIcon } from '../components/shared/icons';
import type { IPlacedHit } from '../models/hits';
import type { SearchModel } from '../models/searchModel';
import type { LabActions } from './actions';

export const CommandIDs = {
  open: 'jupyter-memory:open',
  search: 'jupyter-memory:search',
  openHit: 'jupyter-memory:open-hit',
  openHitToSide: 'jupyter-memory:open-hit-to-side',
  preview: 'jupyter-memory:preview',
  insert: 'jupyter-memory:insert',
  insertBelow: 'jupyter-memory:insert-below',
  copy: 'jupyter-memory:copy',
  copyLink: 'jupyter-memory:copy-link',
  related: 'jupyter-memory:related',
  pin: 'jupyter-memory:pin',
  tag: 'jupyter-memory:tag',
  useful: 'jupyter-memory:useful',
  useless: 'jupyter-memory:useless',
  why: 'jupyter-memory:why',
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
  /** Show what put the selected hit where it is. */
  why(): void;
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
    label: given =>
      given.isMenu
        ? trans.__('Search Memory for the Selection')
        : given.query
          ? trans.__('Search Memory for “%1”', String(given.query))
          : trans.__('Search Memory'),
    caption: trans.__('Search for a text in the Memory panel'),
    icon: searchIcon,
    describedBy: args({ ...query, isMenu: { type: 'boolean', description: trans.__('Search for what is selected') } }),
    isVisible: given => !given.isMenu || selected() !== undefined,
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

interface IHitCommand {
  /** What the context menu of a hit calls it; elsewhere it names the selected one. */
  menu(found: IPlacedHit): string;
  label: string;
  icon: LabIcon;
  run(found: IPlacedHit): Promise<void> | void;
  fits?(found: IPlacedHit): boolean;
  isOn?(found: IPlacedHit): boolean;
}

function addHitCommands({ commands, model, actions, why, trans }: ICommandOptions): void {
  const describedBy = args({
    memory_id: { type: 'string', description: trans.__('Which of the results; the selected one if left out') },
    isMenu: { type: 'boolean', description: trans.__('Whether the menu names the hit already') }
  });
  const find = (given: { memory_id?: unknown }): IPlacedHit | undefined =>
    model.find(text(given.memory_id) ?? model.selected ?? '');
  const addForHit = (id: string, { menu, label, icon, run, fits, isOn }: IHitCommand): void => {
    const isOf = (given: object, check?: (found: IPlacedHit) => boolean): boolean => {
      const found = find(given);
      return found !== undefined && (check?.(found) ?? true);
    };
    commands.addCommand(id, {
      label: given => {
        const found = given.isMenu ? find(given) : undefined;
        return found ? menu(found) : label;
      },
      icon,
      describedBy,
      isEnabled: given => isOf(given, fits),
      isToggled: isOn && (given => isOf(given, isOn)),
      execute: given => {
        const found = find(given);
        return found && run(found);
      }
    });
  };
  const fits = ({ place }: IPlacedHit): boolean => place.path !== null;
  const { edits, selection } = model;
  const open = (toSide: boolean) => (one: IPlacedHit) => actions.open(one.hit, one.place, toSide);
  addForHit(CommandIDs.openHit, {
    menu: () => trans.__('Open'),
    label: trans.__('Open the Selected Memory'),
    icon: launchIcon,
    run: open(false),
    fits
  });
  addForHit(CommandIDs.openHitToSide, {
    menu: () => trans.__('Open to the Side'),
    label: trans.__('Open the Selected Memory to the Side'),
    icon: launchIcon,
    run: open(true),
    fits
  });
  addForHit(CommandIDs.preview, {
    menu: () => trans.__('Preview'),
    label: trans.__('Preview the Selected Memory'),
    icon: caretDownIcon,
    run: ({ hit }) => model.texts.toggle(hit.memory_id),
    isOn: ({ hit }) => model.texts.all.has(hit.memory_id)
  });
  addForHit(CommandIDs.insert, {
    menu: () => trans.__('Insert'),
    label: trans.__('Insert the Selected Memory into the Notebook'),
    icon: addBelowIcon,
    run: ({ hit }) => actions.insert(hit),
    fits: () => actions.hasNotebook
  });
  addForHit(CommandIDs.copy, {
    menu: () => trans.__('Copy'),
    label: trans.__('Copy the Selected Memory'),
    icon: copyIcon,
    run: ({ hit }) => actions.copy(hit)
  });
  addForHit(CommandIDs.copyLink, {
    menu: () => trans.__('Copy Link'),
    label: trans.__('Copy a Link to the Selected Memory'),
    icon: linkIcon,
    run: ({ hit, place }) => actions.copyLink(hit, place),
    fits
  });
  addForHit(CommandIDs.related, {
    menu: () => trans.__('More like this'),
    label: trans.__('Find More like the Selected Memory'),
    icon: relatedIcon,
    run: ({ hit }) => model.related(hit.memory_id)
  });
  addForHit(CommandIDs.pin, {
    menu: ({ place }) => (place.pinned ? trans.__('Unpin') : trans.__('Pin')),
    label: trans.__('Pin or Unpin the Selected Memory'),
    icon: pinIcon,
    run: ({ hit, place }) => edits.pin(hit.memory_id, !place.pinned)
  });
  addForHit(CommandIDs.tag, {
    menu: () => trans.__('Tag'),
    label: trans.__('Tag the Selected Memory'),
    icon: tagsIcon,
    run: ({ hit }) => {
      model.select(hit.memory_id);
      selection.tag(hit.memory_id);
    }
  });
  const feedback = (yes: boolean) => ({
    run: ({ hit }: IPlacedHit) => edits.accept(hit.memory_id, yes),
    isOn: ({ hit }: IPlacedHit) => edits.accepted(hit.memory_id) === yes
  });
  addForHit(CommandIDs.useful, {
    menu: () => trans.__('Useful'),
    label: trans.__('The Selected Memory Is Useful'),
    icon: usefulIcon,
    ...feedback(true)
  });
  addForHit(CommandIDs.useless, {
    menu: () => trans.__('Not useful'),
    label: trans.__('The Selected Memory Is Not Useful'),
    icon: uselessIcon,
    ...feedback(false)
  });
  addForHit(CommandIDs.forget, {
    menu: () => trans.__('Forget'),
    label: trans.__('Forget the Selected Memory'),
    icon: deleteIcon,
    run: ({ hit }) => model.forget(hit.memory_id)
  });
  addForHit(CommandIDs.why, {
    menu: () => trans.__('Why it is here'),
    label: trans.__('Why the Selected Memory Is Where It Is'),
    icon: infoIcon,
    run: ({ hit }) => {
      model.select(hit.memory_id);
      why();
    }
  });
}

export function text(given: unknown): string | undefined {
  return typeof given === 'string' && given ? given : undefined;
}
