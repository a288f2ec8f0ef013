/** The commands of context menus: for cells, selections, files and folders. */

import { Notification } from '@jupyterlab/apputils';
import type { FileBrowser } from '@jupyterlab/filebrowser';
import type { TranslationBundle } from '@jupyterlab/translation';
import { addIcon, refreshIcon } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';

import type { MemoryApi } from '../api/memoryApi';
import { errorText } from '../components/shared/elements';
import { relatedIcon } from '../components/shared/icons';
import type { IndexModel } from '../models/indexModel';
import type { SearchModel } from '../models/searchModel';
import { notifyErrors } from './actions';
import { args, CommandIDs, text } from './commands';
import { notifyJob } from './indexing';
import { displayTitle, findMemory, type IPointed, noteFrom, type Pointer, queryFromPath, toQuery } from './pointer';

interface IContextOptions {
  commands: CommandRegistry;
  api: MemoryApi;
  model: SearchModel;
  index: IndexModel;
  pointer: Pointer;
  files: FileBrowser | null;
  show(query?: string): Promise<void>;
  trans: TranslationBundle;
}

export function addContextCommands(options: IContextOptions): void {
  const { commands, pointer, files, trans } = options;
  const isMenu = { isMenu: { type: 'boolean', description: trans.__('Use the cell under the context menu') } };
  commands.addCommand(CommandIDs.rememberCell, {
    label: trans.__('Remember This Cell'),
    caption: trans.__('Keep the active cell, with its text outputs, as a note'),
    icon: addIcon,
    describedBy: args(isMenu),
    isEnabled: given => pointer.cell(!!given.isMenu) !== null,
    execute: given => remember(options, pointer.cell(!!given.isMenu))
  });
  commands.addCommand(CommandIDs.rememberSelection, {
    label: trans.__('Remember the Selection'),
    caption: trans.__('Keep the selected text as a note'),
    icon: addIcon,
    describedBy: args({
      text: { type: 'string', description: trans.__('What to keep instead of the selection') },
      ...isMenu
    }),
    isEnabled: given => !!text(given.text) || pointer.selection !== null,
    isVisible: given => !given.isMenu || pointer.selection !== null,
    execute: given => {
      const said = text(given.text);
      return remember(options, said ? { text: said, lang: '', path: '', cell: null, index: null } : pointer.selection);
    }
  });
  commands.addCommand(CommandIDs.findRelated, {
    label: trans.__('Find Related Memories'),
    caption: trans.__('Find cells and notes that are like the file, the cell or the selection'),
    icon: relatedIcon,
    describedBy: args({
      path: { type: 'string', description: trans.__('A file, as a contents path') },
      isFile: { type: 'boolean', description: trans.__('Use the file that is selected in the file browser') },
      ...isMenu
    }),
    execute: given => {
      const path = text(given.path) ?? (given.isFile ? selectedPaths(files)[0] : undefined);
      return notifyErrors(trans, () => findRelated(options, path, !!given.isMenu));
    }
  });
  commands.addCommand(CommandIDs.indexFolder, {
    label: given => (given.isFile ? trans.__('Index in Memory') : trans.__('Index This Folder in Memory')),
    caption: trans.__('Make files and folders part of the memory'),
    icon: refreshIcon,
    describedBy: args({
      path: { type: 'string', description: trans.__('A file or folder, as a contents path; "" is Lab’s root') },
      watch: { type: 'boolean', description: trans.__('Index changes made in Lab at once') },
      isFile: { type: 'boolean', description: trans.__('Use what is selected in the file browser') }
    }),
    execute: given => {
      const one = typeof given.path === 'string' ? given.path : (files?.model.path ?? '');
      const paths = given.isFile ? selectedPaths(files) : [one];
      return indexAll(options, paths, typeof given.watch === 'boolean' ? given.watch : undefined);
    }
  });
}

async function remember({ api, model, show, trans }: IContextOptions, pointed: IPointed | null): Promise<void> {
  if (!pointed) {
    return;
  }
  await notifyErrors(trans, async () => {
    const item = await api.add(noteFrom(pointed));
    void model.recount();
    const callback = async (): Promise<void> => {
      await show('');
      model.selection.select(item.memory_id);
    };
    Notification.success(trans.__('Remembered “%1”.', displayTitle(item)), {
      autoClose: 5000,
      actions: [{ label: trans.__('Show'), callback: () => void callback() }]
    });
  });
}

/** Show what is like a file, or like the selection or the cell in front of a person. */
async function findRelated(options: IContextOptions, path: string | undefined, isClicked: boolean): Promise<void> {
  const { api, model, pointer, show, trans } = options;
  const { selection } = pointer;
  const pointed = path === undefined ? (selection ?? pointer.cell(isClicked)) : null;
  const from = path ?? pointed?.path;
  if (from === undefined) {
    Notification.info(trans.__('Select a cell or some text first.'), { autoClose: 5000 });
    return;
  }
  const isIndexed = pointed === null || pointed !== selection;
  const id = isIndexed ? await findMemory(api, from, pointed) : null;
  if (id === null) {
    await show(pointed ? toQuery(pointed.text) : queryFromPath(from));
  } else {
    await show();
    await model.related(id);
  }
}

async function indexAll({ index, trans }: IContextOptions, paths: string[], watch?: boolean): Promise<void> {
  for (const path of paths) {
    const job = await index.index(path, watch);
    if (job) {
      notifyJob(index, job, path || trans.__('all files'), trans);
    } else if (index.refusal) {
      Notification.error(errorText(index.refusal, trans), { autoClose: 8000 });
    }
  }
}

function selectedPaths(files: FileBrowser | null): string[] {
  const items = files ? [...files.selectedItems()] : [];
  // Drives of other extensions prefix the path with their name.
  return items.map(item => files!.model.manager.services.contents.localPath(item.path));
}
