/** The buttons in the title of the Results section. */

import type { TranslationBundle } from '@jupyterlab/translation';
import {
  collapseAllIcon,
  expandAllIcon,
  type LabIcon,
  notebookIcon,
  ReactWidget,
  Toolbar,
  treeViewIcon,
  UseSignal
} from '@jupyterlab/ui-components';

import type { SearchModel } from './model';
import type { IActions } from './tokens';

export function resultsToolbar(model: SearchModel, actions: IActions, trans: TranslationBundle): Toolbar {
  const toolbar = new Toolbar();
  const view = ReactWidget.create(
    <UseSignal signal={model.stateChanged}>{() => <Signs model={model} actions={actions} trans={trans} />}</UseSignal>
  );
  view.addClass('jp-Memory-view');
  toolbar.addItem('view', view);
  return toolbar;
}

/** Not Lab's `ToolbarButton`: it says that it is pressed where no screen reader looks. */
export function Signs(props: { model: SearchModel; actions: IActions; trans: TranslationBundle }): JSX.Element {
  const { model, actions, trans } = props;
  const question = model.query.trim();
  return (
    <>
      {question && (
        <Button
          icon={notebookIcon}
          label={trans.__('Insert the search as %memsearch')}
          run={() => void actions.toNotebook(question)}
        />
      )}
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
