/** The side panel: the query at the top, and the sections below it. */

import type { Event } from '@jupyterlab/services';
import type { ITranslator } from '@jupyterlab/translation';
import { SidePanel, type Toolbar, VDomRenderer } from '@jupyterlab/ui-components';
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { type Message, MessageLoop } from '@lumino/messaging';
import { Signal } from '@lumino/signaling';
import { type AccordionPanel, Widget } from '@lumino/widgets';

import type { MemoryApi } from '../api/memoryApi';
import type { IndexModel } from '../models/indexModel';
import type { RelatedCells } from '../models/relatedCells';
import type { SearchModel } from '../models/searchModel';
import { AutoRefresh, Reconnection } from '../state/refresh';
import type { IActions, ISection, ISectionModel, ISectionRegistry } from '../tokens';
import { debuggerSection } from './debugger/debugger';
import type { IPicking } from './debugger/explanation';
import { focusBox, headerWidget } from './header/header';
import { type IIndexOptions, indexSection } from './index/indexSection';
import { focusList, resultsSection } from './results/results';
import { memoryIcon } from './shared/icons';

export const PANEL_ID = 'jupyter-memory:panel';

interface IPanelOptions extends Pick<IIndexOptions, 'folderNow' | 'pickFolder'>, IPicking {
  api: MemoryApi;
  model: SearchModel;
  indexModel: IndexModel;
  related: RelatedCells;
  actions: IActions;
  events?: Event.IManager;
  translator: ITranslator;
}

/** Sends no request before it is shown for the first time. */
export class MemoryPanel extends SidePanel {
  constructor(options: IPanelOptions) {
    super({ translator: options.translator });
    const { api, model, indexModel, related, actions, events, folderNow, pickFolder } = options;
    const trans = options.translator.load('jupyter_memory');
    this._options = options;
    this.id = PANEL_ID;
    this.addClass('jp-Memory');
    this.title.icon = memoryIcon;
    this.title.caption = trans.__('Memory');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('Memory'));

    this._head = headerWidget({ model, trans, related, onDown: () => focusList(this.section('results')?.node) });
    this.header.addWidget(this._head);
    this.registry.add(
      resultsSection({
        model,
        actions,
        trans,
        related,
        onIndex: path => void this.index(path),
        onLeave: () => focusBox(this._head.node)
      })
    );
    this.registry.add(debuggerSection({ model, api, trans, pickFile: options.pickFile }));
    this.registry.add(indexSection({ model: indexModel, trans, folderNow, pickFolder }));
    this._layOut();
    this.registry.changed.connect(this._layOut, this);
    this._accordion.expansionToggled.connect(makeRoom);
    indexModel.stateChanged.connect(this._onIndexChanged, this);
    this._reconnection = new Reconnection(model, indexModel);
    this._autoRefresh = new AutoRefresh(model, indexModel, () => this.isSeen, events);
    window.addEventListener('pagehide', this._flush);
    document.addEventListener('visibilitychange', this._onVisibilityChange);
  }

  /** The sections of the panel. Those that are added later are shown at once. */
  readonly registry = new SectionRegistry();

  get isSeen(): boolean {
    return !document.hidden && this._isStarted && this.isVisible;
  }

  section(id: string): SectionWidget | undefined {
    return this._sections.find(widget => widget.section.id === id);
  }

  reveal(id: string): void {
    this._accordion.expand(this._sections.findIndex(widget => widget.section.id === id));
    this.section(id)?.node.scrollIntoView({ block: 'nearest' });
  }

  async index(path: string): Promise<void> {
    const { model, indexModel } = this._options;
    await indexModel.index(path, path === '' ? true : undefined);
    if (indexModel.refusal) {
      model.report(indexModel.refusal);
    }
  }

  override dispose(): void {
    window.removeEventListener('pagehide', this._flush);
    document.removeEventListener('visibilitychange', this._onVisibilityChange);
    this._reconnection.dispose();
    this._autoRefresh.dispose();
    this._observer?.disconnect();
    super.dispose();
  }

  protected override onAfterAttach(msg: Message): void {
    super.onAfterAttach(msg);
    // Lumino lays out the sections, and does not notice when the header grows.
    this._observer = new ResizeObserver(() => MessageLoop.postMessage(this.content, Widget.ResizeMessage.UnknownSize));
    this._observer.observe(this._head.node);
    if (this.isVisible) {
      void this._start();
    }
  }

  protected override onBeforeDetach(msg: Message): void {
    this._observer?.disconnect();
    super.onBeforeDetach(msg);
  }

  protected override onAfterShow(msg: Message): void {
    super.onAfterShow(msg);
    if (this._isStarted && this._autoRefresh.isStale) {
      this._autoRefresh.refresh();
    } else if (this._isStarted) {
      void this._options.model.recount();
    } else {
      void this._start();
    }
    this._options.related.look();
  }

  protected override onAfterHide(msg: Message): void {
    super.onAfterHide(msg);
    this._options.related.look();
  }

  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    focusBox(this._head.node);
  }

  private _layOut(): void {
    const { sections } = this.registry;
    this._sections.filter(widget => !sections.includes(widget.section)).forEach(widget => widget.dispose());
    const added = sections.filter(section => !this.section(section.id));
    added.forEach(section => this.insertWidget(sections.indexOf(section), new SectionWidget(section)));
    const folded = added.filter(section => !section.isExpanded);
    folded.forEach(section => this._accordion.collapse(sections.indexOf(section)));
  }

  private async _start(): Promise<void> {
    if (this._isStarted) {
      return;
    }
    this._isStarted = true;
    const { model } = this._options;
    if (!model.isLoading) {
      await model.refresh();
    }
  }

  private _onIndexChanged({ status, jobs, problem }: IndexModel): void {
    if (status && !problem && this._isStarted) {
      this._options.model.setStatus({ ...status, jobs });
    }
  }

  private readonly _flush = (): void => this._options.model.undo.flush();
  /** Ask again after a visit to another window, where memories may have changed. */
  private readonly _onVisibilityChange = (): void => {
    if (this.isSeen) {
      this._autoRefresh.refresh();
    }
    this._options.related.look();
  };
  private get _accordion(): AccordionPanel {
    return this.content as AccordionPanel;
  }
  private get _sections(): SectionWidget[] {
    return this.widgets.filter(widget => widget instanceof SectionWidget);
  }
  private readonly _options: IPanelOptions;
  private readonly _head: Widget;
  private readonly _reconnection: Reconnection;
  private readonly _autoRefresh: AutoRefresh;
  private _observer: ResizeObserver | undefined;
  private _isStarted = false;
}

/** Lumino opens a section at its former size: give one that never had any its share. */
function makeRoom(sections: AccordionPanel, index: number): void {
  const sizes = sections.relativeSizes();
  const others = sections.widgets.filter((widget, i) => i !== index && !widget.isHidden).length;
  if (!sections.widgets[index].isHidden && sizes[index] < 0.1) {
    const share = others ? sizes.reduce((sum, size) => sum + size, 0) / others : 1;
    sections.setRelativeSizes(sizes.map((size, i) => (i === index ? share : size)));
  }
}

class SectionRegistry implements ISectionRegistry {
  readonly changed = new Signal<this, void>(this);

  /** Written here alone. */
  sections: readonly ISection[] = [];

  add(section: ISection): IDisposable {
    if (this.sections.some(({ id }) => id === section.id)) {
      throw new Error(`The panel already has a section with the id '${section.id}'.`);
    }
    this._set([...this.sections, section].sort((a, b) => a.rank - b.rank));
    return new DisposableDelegate(() => this._set(this.sections.filter(one => one !== section)));
  }

  private _set(sections: readonly ISection[]): void {
    this.sections = sections;
    this.changed.emit();
  }
}

/** Draws a section. One with a model is drawn, and its model asks the server, only while it can be seen. */
export class SectionWidget extends VDomRenderer<ISectionModel | null> {
  constructor(readonly section: ISection) {
    super(section.model);
    this.toolbar = section.toolbar;
    this.addClass('jp-Memory');
    if (section.className) {
      this.addClass(section.className);
    }
    this.title.label = section.label();
    this.title.caption = section.caption;
    section.model?.stateChanged.connect(this._updateTitle, this);
  }

  readonly toolbar: Toolbar | undefined;

  override dispose(): void {
    if (!this.isDisposed) {
      super.dispose();
      this.section.dispose?.();
    }
  }

  protected override render(): JSX.Element | null {
    return this.section.render();
  }

  override processMessage(msg: Message): void {
    super.processMessage(msg);
    const { model } = this.section;
    if (model && model.isOpen !== this.isVisible) {
      model.isOpen = this.isVisible;
    }
  }

  protected override onAfterShow(msg: Message): void {
    super.onAfterShow(msg);
    this.update();
  }

  /** A hidden section is drawn when it is shown: its model changes with every key that is typed. */
  protected override onUpdateRequest(msg: Message): void {
    if (this.isVisible || !this.section.model) {
      super.onUpdateRequest(msg);
    }
  }

  private _updateTitle(): void {
    this.title.label = this.section.label();
  }
}
