/** Applies the settings of the panel, now and whenever they change. */

import type { ISettingRegistry } from '@jupyterlab/settingregistry';

import type { SearchModel } from '../models/searchModel';
import type { Persistence } from './persistence';

/** Follow the settings of a plugin, then restore the last question if it is kept. */
export async function followSettings(
  registry: ISettingRegistry | null,
  id: string,
  model: SearchModel,
  keeper: Persistence | null
): Promise<void> {
  const settings = await load(registry, id);
  if (settings) {
    let grouped: unknown;
    const apply = (): void => {
      const { searchDelay, pageSize, groupByNotebook, rememberQuery, undoSeconds } = settings.composite;
      model.answers.configure({ delay: searchDelay as number, page: pageSize as number });
      // A schema that is older than the panel lacks it.
      if (typeof undoSeconds === 'number') {
        model.undo.delay = 1000 * undoSeconds;
      }
      // A choice in the panel holds until the setting itself changes.
      if (groupByNotebook !== grouped) {
        grouped = groupByNotebook;
        model.selection.setGrouped(groupByNotebook === true);
      }
      if (keeper) {
        keeper.isOn = rememberQuery !== false;
      }
    };
    apply();
    settings.changed.connect(apply);
  }
  await keeper?.restore();
}

async function load(registry: ISettingRegistry | null, id: string): Promise<ISettingRegistry.ISettings | null> {
  try {
    return (await registry?.load(id)) ?? null;
  } catch (error) {
    // Without the extension's schema on the server, the panel works with its defaults.
    if (error instanceof Error) {
      return null;
    }
    throw error;
  }
}
