/** Applies the settings of the panel, now and whenever they change. */

import type { ISettingRegistry } from '@jupyterlab/settingregistry';

import type { RelatedCells } from '../models/relatedCells';
import type { SearchModel } from '../models/searchModel';
import type { Persistence } from './persistence';

/** What the settings apply to. */
export interface IFollowers {
  model: SearchModel;
  related?: RelatedCells;
  keeper: Persistence | null;
}

/** Follow the settings of a plugin, then restore the last question if it is kept. */
export async function followSettings(
  registry: ISettingRegistry | null,
  id: string,
  { model, related, keeper }: IFollowers
): Promise<void> {
  const settings = await load(registry, id);
  if (settings) {
    let grouped: unknown;
    const apply = (): void => {
      const { searchDelay, pageSize, groupByNotebook, rememberQuery, undoSeconds, relatedCells } = settings.composite;
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
      if (related) {
        related.isOn = relatedCells === true;
      }
      if (keeper) {
        keeper.isOn = rememberQuery !== false;
      }
    };
    apply();
    settings.changed.connect(apply);
    if (related) {
      related.onChosen = on => void settings.set('relatedCells', on);
    }
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
