/** Adds the panel to JupyterLab or Notebook 7; whatever only one of them provides is optional. */

import { ILabShell, ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { PathExt } from '@jupyterlab/coreutils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { FileDialog, IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { IEditorTracker } from '@jupyterlab/fileeditor';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStateDB } from '@jupyterlab/statedb';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { MemoryApi } from './api/memoryApi';
import { Overlay } from './components/overlay';
import { MemoryPanel, PANEL_ID } from './components/panel';
import { focusList } from './components/results/results';
import { codeHighlighter, LabActions, markdownRenderer, notifyErrors } from './integrations/actions';
import { addCommands, CommandIDs } from './integrations/commands';
import { addContextCommands } from './integrations/contextMenu';
import { followHistory, offerHistory } from './integrations/history';
import { addStatusItem } from './integrations/indexing';
import { Opener } from './integrations/open';
import { followOutputs, followSources, keepArrows, nameSliders, showFixes, showPictures } from './integrations/outputs';
import { followActiveCell, Pointer, toQuery, wordsOf } from './integrations/pointer';
import { IndexModel } from './models/indexModel';
import { RelatedCells } from './models/relatedCells';
import { SearchModel } from './models/searchModel';
import { followSettings, Persistence } from './state/settings';
import { IMemoryPanel } from './tokens';

/** The rank of the panel in the side bar; 501-899 are for extensions. */
const RANK = 600;

/** A longer selection is not used as a query. */
const LONGEST_SELECTION = 200;

const plugin: JupyterFrontEndPlugin<IMemoryPanel> = {
  id: 'jupyter-memory:plugin',
  description: 'Searches what you wrote, ran or saved, and says why each result is there.',
  autoStart: true,
  provides: IMemoryPanel,
  requires: [IDocumentManager],
  optional: [
    ILabShell,
    ILayoutRestorer,
    INotebookTracker,
    IEditorTracker,
    IDefaultFileBrowser,
    ICommandPalette,
    ISettingRegistry,
    IStateDB,
    IStatusBar,
    ITranslator,
    IRenderMimeRegistry,
    IEditorLanguageRegistry
  ],
  activate
};

export * from './tokens';
export default plugin;

function activate(
  app: JupyterFrontEnd,
  docs: IDocumentManager,
  labShell: ILabShell | null,
  restorer: ILayoutRestorer | null,
  notebooks: INotebookTracker | null,
  editors: IEditorTracker | null,
  files: IDefaultFileBrowser | null,
  palette: ICommandPalette | null,
  registry: ISettingRegistry | null,
  state: IStateDB | null,
  statusBar: IStatusBar | null,
  translator: ITranslator | null,
  rendermime: IRenderMimeRegistry | null,
  languages: IEditorLanguageRegistry | null
): IMemoryPanel {
  const translations = translator ?? nullTranslator;
  const trans = translations.load('jupyter_memory');
  const api = new MemoryApi(app.serviceManager.serverSettings);
  const model = new SearchModel({ api });
  const index = new IndexModel({ api, events: app.serviceManager.events });
  const opener = new Opener({ app, api, docs, notebooks, editors, hasTabs: labShell !== null, trans });
  const render = rendermime && markdownRenderer(rendermime);
  const highlight = languages && codeHighlighter(languages);
  const onMissing = (id: string): void => model.drop(id);
  const onDocument = (): void => overlay.close();
  const actions = new LabActions({ api, opener, notebooks, render, highlight, trans, onDocument, onMissing });
  const pointer = new Pointer({ notebooks, editors, clicked: fits => app.contextMenuHitTest(fits) });
  const related = new RelatedCells({ api, search: model, isSeen: () => panel.isSeen });
  const panel: MemoryPanel = new MemoryPanel({
    api,
    model,
    indexModel: index,
    related,
    actions,
    events: app.serviceManager.events,
    translator: translations,
    folderNow: () => files?.model.path ?? '',
    pickFolder: () => pick(FileDialog.getExistingDirectory, docs, translations),
    pickFile: () => pick(FileDialog.getOpenFiles, docs, translations)
  });
  const overlay = new Overlay({
    model,
    actions,
    trans,
    behind: app.shell.node,
    toDocument: () => app.shell.currentWidget?.activate(),
    onIndex: path => void panel.index(path)
  });
  const ask = (query?: string): void => (query === undefined ? undefined : model.ask(query));
  const show = async (query?: string): Promise<void> => {
    // The command palette returns the focus to the document when it closes: take it after that.
    await Promise.resolve();
    overlay.close();
    app.shell.activateById(PANEL_ID);
    ask(query);
  };
  const searchAnywhere = async (query?: string): Promise<void> => {
    await Promise.resolve();
    overlay.open();
    ask(query);
  };
  const selected = (): string | undefined => {
    const text = toQuery(pointer.selection?.text ?? '');
    return text && text.length <= LONGEST_SELECTION ? text : undefined;
  };
  const clicked = (): string | undefined => wordsOf(pointer.cell(true)?.text ?? '') || undefined;

  app.shell.add(panel, 'left', { rank: RANK, type: 'Memory' });
  restorer?.add(panel, PANEL_ID);
  const why = (): void => {
    if (overlay.isAttached) {
      void show();
    }
    panel.reveal('debugger');
  };
  const back = (): void => void focusList(overlay.isAttached ? overlay.node : panel.section('results')?.node);
  addCommands({ commands: app.commands, model, actions, show, searchAnywhere, selected, clicked, back, why, trans });
  addContextCommands({ commands: app.commands, api, model, index, pointer, files, show, trans });
  for (const command of Object.values(CommandIDs)) {
    palette?.addItem({ command, category: trans.__('Memory') });
  }
  if (statusBar) {
    addStatusItem(statusBar, index, trans, () => void show());
  }

  // The actions for a hit depend on whether a notebook is in front.
  const changed = (): void => {
    model.stateChanged.emit();
    const { currentWidget } = app.shell;
    const path = (currentWidget && docs.contextForWidget(currentWidget)?.localPath) ?? null;
    const folder = path === null ? (files?.model.path ?? null) : PathExt.dirname(path);
    model.answers.setHere({ notebook: path, folder });
  };
  notebooks?.currentChanged.connect(changed);
  labShell?.currentChanged.connect(changed);
  files?.model.pathChanged.connect(changed);
  void app.restored.then(changed);
  followOutputs({
    search: query => void show(query),
    insert: (source, button) => actions.insertText(source, button),
    used: memory_id => void api.access(memory_id)
  });
  followSources(memory_id => void actions.openMemory(memory_id));
  showPictures(memory_id => api.thumbnail(memory_id, 0), trans);
  keepArrows();
  nameSliders();
  showFixes(memory_id => api.item(memory_id), trans);
  const isShown = (): boolean => panel.isVisible;
  followHistory(app.serviceManager.kernels, model, isShown);
  if (state) {
    offerHistory(model, isShown, state, source => actions.insertText(source), trans);
  }
  followActiveCell(notebooks, related);

  const keeper = state ? new Persistence(state, model) : null;
  void followSettings(registry, plugin.id, { model, related, keeper });
  void app.restored.then(() => notifyErrors(trans, () => opener.openNamed()));
  return { registry: panel.registry };
}

/** The contents path that a person picks in one of Lab's dialogs; null if they cancel. */
async function pick(ask: typeof FileDialog.getOpenFiles, docs: IDocumentManager, translator: ITranslator) {
  const answer = await ask({ manager: docs, translator });
  const path = answer.button.accept ? answer.value?.[0]?.path : undefined;
  // Drives of other extensions prefix the path with their name.
  return path === undefined ? null : docs.services.contents.localPath(path);
}
