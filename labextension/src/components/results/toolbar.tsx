/** The buttons in the title of the Results section. */

import type { TranslationBundle } from '@jupyterlab/translation';
import {
  addBelowIcon,
  collapseAllIcon,
  expandAllIcon,
  ReactWidget,
  Toolbar,
  treeViewIcon,
  UseSignal,
  type VDomModel
} from '@jupyterlab/ui-components';
import { useReducer } from 'react';

import type { RelatedCells } from '../../models/relatedCells';
import type { SearchModel } from '../../models/searchModel';
import type { IActions } from '../../tokens';
import { Action, type IProps } from '../shared/elements';
import { relatedIcon } from '../shared/icons';

export function resultsToolbar(
  model: SearchModel,
  actions: IActions,
  trans: TranslationBundle,
  related?: RelatedCells
): Toolbar {
  const toolbar = new Toolbar();
  const add = (name: string, { stateChanged }: VDomModel, render: () => JSX.Element): void => {
    const view = ReactWidget.create(<UseSignal signal={stateChanged}>{render}</UseSignal>);
    view.addClass('jp-Memory-view');
    toolbar.addItem(name, view);
  };
  if (related) {
    add('related', related, () => <RelatedToggle related={related} trans={trans} />);
  }
  add('view', model, () => <ToolbarButtons model={model} actions={actions} trans={trans} />);
  return toolbar;
}

export function ToolbarButtons(props: IProps<SearchModel> & { actions: IActions }): JSX.Element {
  const { model, actions, trans } = props;
  const question = model.query.trim();
  // Checks whether there is a notebook to insert into whenever the mouse or the focus comes here.
  const [, near] = useReducer((times: number) => times + 1, 0);
  return (
    <span className="jp-Memory-viewSigns" onMouseEnter={near} onFocus={near}>
      {question && (
        <Action
          iconOnly
          icon={addBelowIcon}
          label={trans.__('Insert the search as %memsearch')}
          title={actions.hasNotebook ? undefined : trans.__('Open a notebook to insert into')}
          disabled={!actions.hasNotebook}
          run={() => void actions.toNotebook(question)}
        />
      )}
      {model.selection.grouped && (
        <>
          <Action
            iconOnly
            icon={collapseAllIcon}
            label={trans.__('Collapse all')}
            run={() => model.selection.foldAll(model.hits.map(one => one.hit.source))}
          />
          <Action
            iconOnly
            icon={expandAllIcon}
            label={trans.__('Expand all')}
            run={() => model.selection.foldAll([])}
          />
        </>
      )}
      {(model.hits.length > 0 || model.selection.grouped) && (
        <Action
          iconOnly
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
    <Action
      iconOnly
      icon={relatedIcon}
      label={trans.__('Related cells while you work')}
      pressed={related.isOn}
      run={() => related.choose(!related.isOn)}
    />
  );
}
