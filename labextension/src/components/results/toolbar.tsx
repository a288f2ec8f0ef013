/** The buttons in the title of the Results section. */

import type { TranslationBundle } from '@jupyterlab/translation';
import {
  addBelowIcon,
  collapseAllIcon,
  expandAllIcon,
  type LabIcon,
  ReactWidget,
  Toolbar,
  treeViewIcon,
  UseSignal
} from '@jupyterlab/ui-components';

import { useReducer } from 'react';

import type { RelatedCells } from '../../models/relatedCells';
import type { SearchModel } from '../../models/searchModel';
import type { IActions } from '../../tokens';
import { relatedIcon } from '../shared/icons';

export function resultsToolbar(
  model: SearchModel,
  actions: IActions,
  trans: TranslationBundle,
  related?: RelatedCells
): Toolbar {
  const toolbar = new Toolbar();
  const view = ReactWidget.create(
    <UseSignal signal={model.stateChanged}>
      {() => <ToolbarButtons model={model} actions={actions} trans={trans} />}
    </UseSignal>
  );
  view.addClass('jp-Memory-view');
  if (related) {
    const toggle = ReactWidget.create(
      <UseSignal signal={related.stateChanged}>{() => <RelatedToggle related={related} trans={trans} />}</UseSignal>
    );
    toggle.addClass('jp-Memory-view');
    toolbar.addItem('related', toggle);
  }
  toolbar.addItem('view', view);
  return toolbar;
}

/** Not Lab's `ToolbarButton`, because screen readers do not see its pressed state. */
export function ToolbarButtons(props: {
  model: SearchModel;
  actions: IActions;
  trans: TranslationBundle;
}): JSX.Element {
  const { model, actions, trans } = props;
  const question = model.query.trim();
  // Checks whether there is a notebook to insert into whenever the mouse or the focus comes here.
  const [, near] = useReducer((times: number) => times + 1, 0);
  return (
    <span className="jp-Memory-viewSigns" onMouseEnter={near} onFocus={near}>
      {question && (
        <Button
          icon={addBelowIcon}
          label={trans.__('Insert the search as %memsearch')}
          title={actions.hasNotebook ? undefined : trans.__('Open a notebook to insert into')}
          disabled={!actions.hasNotebook}
          run={() => void actions.toNotebook(question)}
        />
      )}
      {model.selection.grouped && (
        <>
          <Button
            icon={collapseAllIcon}
            label={trans.__('Collapse all')}
            run={() => model.selection.foldAll(model.hits.map(one => one.hit.source))}
          />
          <Button icon={expandAllIcon} label={trans.__('Expand all')} run={() => model.selection.foldAll([])} />
        </>
      )}
      {(model.hits.length > 0 || model.selection.grouped) && (
        <Button
          icon={treeViewIcon}
          label={trans.__('Group by notebook')}
          pressed={model.selection.grouped}
          run={() => model.selection.setGrouped(!model.selection.grouped)}
        />
      )}
    </span>
  );
}

export function RelatedToggle({ related, trans }: { related: RelatedCells; trans: TranslationBundle }): JSX.Element {
  return (
    <Button
      icon={relatedIcon}
      label={trans.__('Related cells while you work')}
      pressed={related.isOn}
      run={() => related.choose(!related.isOn)}
    />
  );
}

interface IButtonProps {
  icon: LabIcon;
  label: string;
  title?: string;
  pressed?: boolean;
  disabled?: boolean;
  run(): void;
}

function Button(props: IButtonProps): JSX.Element {
  return (
    <button
      type="button"
      className="jp-Memory-sign"
      title={props.title ?? props.label}
      aria-label={props.label}
      aria-pressed={props.pressed}
      aria-disabled={props.disabled || undefined}
      onClick={() => !props.disabled && props.run()}
    >
      <props.icon.react tag="span" />
    </button>
  );
}
