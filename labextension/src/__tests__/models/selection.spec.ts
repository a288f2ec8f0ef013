import { Selection } from '../../models/hits';

describe('the selection', () => {
  it('folds and unfolds sources one by one, and forgets them when the grouping changes', () => {
    const selection = new Selection();
    let changes = 0;
    selection.changed.connect(() => changes++);
    selection.setGrouped(true);
    selection.fold('/work/a.ipynb', true);
    selection.fold('/work/zürich.ipynb', true);
    selection.fold('/work/a.ipynb', false);
    expect([...selection.folded]).toEqual(['/work/zürich.ipynb']);
    selection.setGrouped(false);
    expect([selection.grouped, selection.folded.size, changes]).toEqual([false, 0, 5]);
  });

  it('reports a change only if another hit is selected', () => {
    const selection = new Selection();
    let changes = 0;
    selection.changed.connect(() => changes++);
    selection.select('aa01');
    selection.select('aa01');
    expect([selection.id, changes]).toEqual(['aa01', 1]);
  });
});
