/** The buttons in the title of the Results section. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { collapseAllIcon, expandAllIcon, Toolbar, ToolbarButton, treeViewIcon } from '@jupyterlab/ui-components';

import type { SearchModel } from './model';

export function resultsToolbar(model: SearchModel, trans: TranslationBundle): Toolbar {
  const toolbar = new Toolbar();
  const group = new ToolbarButton({
    icon: treeViewIcon,
    tooltip: trans.__('Group by notebook'),
    onClick: () => model.setGrouped(!model.grouped)
  });
  const fold = new ToolbarButton({
    icon: collapseAllIcon,
    tooltip: trans.__('Collapse all'),
    onClick: () => model.foldAll(true)
  });
  const unfold = new ToolbarButton({
    icon: expandAllIcon,
    tooltip: trans.__('Expand all'),
    onClick: () => model.foldAll(false)
  });
  toolbar.addItem('fold', fold);
  toolbar.addItem('unfold', unfold);
  toolbar.addItem('group', group);
  const show = (): void => {
    group.pressed = model.grouped;
    fold.setHidden(!model.grouped);
    unfold.setHidden(!model.grouped);
  };
  model.stateChanged.connect(show);
  toolbar.disposed.connect(() => model.stateChanged.disconnect(show));
  show();
  return toolbar;
}
