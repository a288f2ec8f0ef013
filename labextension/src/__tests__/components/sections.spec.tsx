import { nullTranslator } from '@jupyterlab/translation';
import { act, screen } from '@testing-library/react';
import { VDomModel } from '@jupyterlab/ui-components';
import { Widget } from '@lumino/widgets';

import { MemoryPanel } from '../../components/panel';
import { IndexModel } from '../../models/indexModel';
import { RelatedCells } from '../../models/relatedCells';
import { SearchModel } from '../../models/searchModel';
import type { ISection, ISectionModel } from '../../tokens';
import { actions, picks } from '../helpers/samples';
import { Server } from '../helpers/server';

class NotesModel extends VDomModel implements ISectionModel {
  isOpen = false;
  count = 3;
}

// jsdom lays nothing out.
globalThis.ResizeObserver ??= class {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
};

function panelWith(): MemoryPanel {
  const { api } = new Server();
  const [model, indexModel] = [new SearchModel({ api }), new IndexModel({ api })];
  const related = new RelatedCells({ api, search: model, isSeen: () => false });
  return new MemoryPanel({ api, model, indexModel, related, actions, translator: nullTranslator, ...picks });
}

function notes(model: NotesModel, more: Partial<ISection> = {}): ISection {
  return {
    id: 'notes',
    rank: 250,
    label: () => `Notes · ${model.count}`,
    caption: 'Notes of another extension',
    model,
    render: () => <p>{model.count} notes</p>,
    ...more
  };
}

const titles = (panel: MemoryPanel): string[] => panel.widgets.map(widget => widget.title.label);

describe('a section that another extension adds', () => {
  it('stands at its rank, folded, until it is taken out', () => {
    const panel = panelWith();
    const dispose = jest.fn();
    const added = panel.registry.add(notes(new NotesModel(), { dispose }));
    expect(titles(panel)).toEqual(['Results', 'Why this order', 'Notes · 3', 'Index']);
    expect(panel.widgets.map(widget => widget.isHidden)).toEqual([false, true, true, true]);
    expect(() => panel.registry.add(notes(new NotesModel()))).toThrow("a section with the id 'notes'");
    added.dispose();
    expect(titles(panel)).toEqual(['Results', 'Why this order', 'Index']);
    expect(dispose).toHaveBeenCalledTimes(1);
    panel.dispose();
  });

  it('is drawn, and its model asks, only while it can be seen; its title follows the model', async () => {
    const panel = panelWith();
    const model = new NotesModel();
    panel.registry.add(notes(model, { isExpanded: true }));
    expect(model.isOpen).toBe(false);
    panel.hide();
    act(() => Widget.attach(panel, document.body));
    expect([model.isOpen, screen.queryByText('3 notes')]).toEqual([false, null]);
    await act(async () => panel.show());
    expect(model.isOpen).toBe(true);
    expect(screen.getByText('3 notes')).toBeTruthy();
    model.count = 4;
    await act(async () => model.stateChanged.emit());
    expect(screen.getByText('4 notes')).toBeTruthy();
    expect(panel.section('notes')?.title.label).toBe('Notes · 4');
    act(() => panel.dispose());
    expect(model.isOpen).toBe(false);
  });
});
