/** The buttons in the title of the Results section. */

import type { TranslationBundle } from '@jupyterlab/translation';
import {
  collapseAllIcon,
  expandAllIcon,
  type LabIcon,
  ReactWidget,
  Toolbar,
  treeViewIcon,
  UseSignal
} from '@jupyterlab/ui-components';

import type { SearchModel } from './model';

export function resultsToolbar(model: SearchModel, trans: TranslationBundle): Toolbar {
  const toolbar = new Toolbar();
  const view = ReactWidget.create(
    <UseSignal signal={model.stateChanged}>{() => <View model={model} trans={trans} />}</UseSignal>
  );
  view.addClass('jp-Memory-view');
  toolbar.addItem('view', view);
  return toolbar;
}

/** Not Lab's `ToolbarButton`: it says that it is pressed where no screen reader looks. */
function View({ model, trans }: { model: SearchModel; trans: TranslationBundle }): JSX.Element {
  return (
    <>
      {model.grouped && (
        <>
          <Button icon={collapseAllIcon} label={trans.__('Collapse all')} run={() => model.foldAll(true)} />
          <Button icon={expandAllIcon} label={trans.__('Expand all')} run={() => model.foldAll(false)} />
        </>
      )}
      <Button
        icon={treeViewIcon}
        label={trans.__('Group by notebook')}
        pressed={model.grouped}
        run={() => model.setGrouped(!model.grouped)}
      />
    </>
  );
}

function Button(props: { icon: LabIcon; label: string; pressed?: boolean; run(): void }): JSX.Element {
  return (
    <button
      type="button"
      className="jp-Memory-sign"
      title={props.label}
      aria-label={props.label}
      aria-pressed={props.pressed}
      onClick={props.run}
    >
      <props.icon.react tag="span" />
    </button>
  );
}
