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

import { canRun } from '../components/shared/labels';
import { firstIcon, pinIcon, relatedIcon, tagsIcon, usefulIcon, uselessIcon } from '../components/shared/icons';
import { asTyped } from '../models/cells';
import type { IPlacedHit, Verdict } from '../models/hits';
import type { SearchModel } from '../models/searchModel';
import type { LabActions } from './actions';

export const CommandIDs = {
  open: 'jupyter-memory:open',
  search: 'jupyter-memory:search',
  searchAnywhere: 'jupyter-memory:search-anywhere',
  openHit: 'jupyter-memory:open-hit',
  openHitToSide: 'jupyter-memory:open-hit-to-side',
  preview: 'jupyter-memory:preview',
  insert: 'jupyter-memory:insert',
  insertRunnable: 'jupyter-memory:insert-runnable',
  insertBelow: 'jupyter-memory:insert-below',
  copy: 'jupyter-memory:copy',
  copyLink: 'jupyter-memory:copy-link',
  related: 'jupyter-memory:related',
  pin: 'jupyter-memory:pin',
  tag: 'jupyter-memory:tag',
  useful: 'jupyter-memory:useful',
  first: 'jupyter-memory:first',
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
  searchAnywhere(query?: string): Promise<void>;
  /** The selected text of the document in front, for the search box. */
  selected(): string | undefined;
  /** The words of the cell under the context menu. */
  clicked(): string | undefined;
  /** Give the keyboard back to the results, which a menu took it from. */
  back(): void;
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
  const { commands, model, actions, show, searchAnywhere, selected, clicked, trans } = options;
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
        ? selected()
          ? trans.__('Search Memory for the Selection')
          : trans.__('Search Memory for This Cell')
        : given.query
          ? trans.__('Search Memory for “%1”', String(given.query))
          : trans.__('Search Memory'),
    caption: trans.__('Search for a text in the Memory panel'),
    icon: searchIcon,
    describedBy: args({
      ...query,
      isMenu: { type: 'boolean', description: trans.__('Search for what is selected, or for the cell under the menu') }
    }),
    isVisible: given => !given.isMenu || (selected() ?? clicked()) !== undefined,
    execute: given =>
      show(text(given.query) ?? selected() ?? (given.isMenu ? clicked() : undefined) ?? model.question.query)
  });
  commands.addCommand(CommandIDs.searchAnywhere, {
    label: trans.__('Search Memory from Anywhere'),
    caption: trans.__('Search above what you work on, and come back to it'),
    describedBy: args(query),
    execute: given => searchAnywhere(text(given.query) ?? selected())
  });
  commands.addCommand(CommandIDs.searchInNotebook, {
    label: trans.__('Insert the Search as %memsearch'),
    caption: trans.__('Put the question of the Memory panel into the notebook'),
    icon: notebookIcon,
    describedBy: args(query),
    isEnabled: given => actions.hasNotebook && !!(text(given.query) ?? model.question.query).trim(),
    execute: given => actions.toNotebook(text(given.query) ?? asTyped(model.question))
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

type Check = (found: IPlacedHit) => boolean;

function addHitCommands({ commands, model, actions, back, why, trans }: ICommandOptions): void {
  const describedBy = args({
    memory_id: { type: 'string', description: trans.__('Which of the results; the selected one if left out') },
    isMenu: { type: 'boolean', description: trans.__('Whether the menu names the hit already') }
  });
  const find = (given: { memory_id?: unknown }): IPlacedHit | undefined =>
    model.find(text(given.memory_id) ?? model.selected ?? '');
  /** `short` is what the context menu of a hit calls it; elsewhere the label names the selected one. */
  const addForHit = (
    id: string,
    [short, label, icon]: [string, string, LabIcon],
    run: (found: IPlacedHit) => Promise<void> | void,
    { fits, isOn }: { fits?: Check; isOn?: Check } = {}
  ): void => {
    const isOf = (given: object, check: Check = () => true): boolean => {
      const found = find(given);
      return found !== undefined && check(found);
    };
    commands.addCommand(id, {
      label: given => (given.isMenu ? short : label),
      icon,
      describedBy,
      isEnabled: given => isOf(given, fits),
      isToggled: isOn && (given => isOf(given, isOn)),
      execute: given => {
        const found = find(given);
        if (given.isMenu) {
          back();
        }
        return found && run(found);
      }
    });
  };
  const ids = CommandIDs;
  const inFile = { fits: ({ place }: IPlacedHit) => place.path !== null };
  const open = (toSide: boolean) => (one: IPlacedHit) => actions.open(one.hit, one.place, toSide);
  const accept = (said: Verdict) => (one: IPlacedHit) => model.edits.accept(one.hit.memory_id, said);
  const isAccepted = (said: Verdict) => ({
    isOn: ({ hit }: IPlacedHit) => model.edits.accepted(hit.memory_id) === said
  });
  const more = trans.__('Find More like the Selected Result');
  const side = trans.__('Open the Selected Result to the Side');
  const insert = trans.__('Insert the Selected Result into the Notebook');
  addForHit(ids.openHit, [trans.__('Open'), trans.__('Open the Selected Result'), launchIcon], open(false), inFile);
  addForHit(ids.openHitToSide, [trans.__('Open to the Side'), side, launchIcon], open(true), inFile);
  addForHit(
    ids.preview,
    [trans.__('Preview'), trans.__('Preview the Selected Result'), caretDownIcon],
    ({ hit }) => model.texts.toggle(hit.memory_id),
    { isOn: ({ hit }) => model.texts.all.has(hit.memory_id) }
  );
  addForHit(ids.insert, [trans.__('Insert'), insert, addBelowIcon], one => actions.insert(one.hit), {
    fits: () => actions.hasNotebook
  });
  addForHit(
    ids.insertRunnable,
    [trans.__('Insert What Runs'), trans.__('Insert the Selected Result with What It Needs'), addBelowIcon],
    one => actions.insert(one.hit, true),
    { fits: one => actions.hasNotebook && canRun(one) }
  );
  addForHit(ids.copy, [trans.__('Copy'), trans.__('Copy the Selected Result'), copyIcon], one => actions.copy(one.hit));
  addForHit(
    ids.copyLink,
    [trans.__('Copy Link'), trans.__('Copy a Link to the Selected Result'), linkIcon],
    one => actions.copyLink(one.hit, one.place),
    inFile
  );
  addForHit(ids.related, [trans.__('More like this'), more, relatedIcon], one => model.related(one.hit.memory_id));
  addForHit(
    ids.pin,
    [trans.__('Pin'), trans.__('Pin or Unpin the Selected Result'), pinIcon],
    ({ hit, place }) => model.edits.pin(hit.memory_id, !place.pinned),
    { isOn: ({ place }) => place.pinned }
  );
  addForHit(ids.tag, [trans.__('Tag'), trans.__('Tag the Selected Result'), tagsIcon], ({ hit }) => {
    model.selection.select(hit.memory_id);
    model.selection.set({ tagging: hit.memory_id });
  });
  addForHit(
    ids.useful,
    [trans.__('Useful'), trans.__('The Selected Result Is Useful'), usefulIcon],
    accept(true),
    isAccepted(true)
  );
  addForHit(
    ids.first,
    [trans.__('Should have been first'), trans.__('The Selected Result Should Have Been First'), firstIcon],
    accept('first'),
    isAccepted('first')
  );
  addForHit(
    ids.useless,
    [trans.__('Not useful'), trans.__('The Selected Result Is Not Useful'), uselessIcon],
    accept(false),
    isAccepted(false)
  );
  addForHit(ids.forget, [trans.__('Forget'), trans.__('Forget the Selected Result'), deleteIcon], one =>
    model.forget(one.hit.memory_id)
  );
  addForHit(
    ids.why,
    [trans.__('Why it is here'), trans.__('Why the Selected Result Is Where It Is'), infoIcon],
    ({ hit }) => {
      model.selection.select(hit.memory_id);
      why();
    }
  );
}

export function text(given: unknown): string | undefined {
  return typeof given === 'string' && given ? given : undefined;
}
