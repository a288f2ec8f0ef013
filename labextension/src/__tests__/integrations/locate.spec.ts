import type { IPlace } from '../../api/types';
import { findCell, findLine } from '../../integrations/open';
import { place } from '../helpers/samples';

const at = (more: Partial<IPlace>): IPlace => ({ ...place, path: 'week/prices.ipynb', closed: null, ...more });

const cells = [
  { id: 'c0', source: '# Prices of Zürich' },
  { id: 'c1', source: 'import pandas as pd' },
  { id: 'c2', source: 'scale = table.groupby("zone")\nλ = scale.std()' },
  { id: 'c3', source: 'import pandas as pd' }
];

const none = { snippet: '', highlights: [] };

describe('the cell of a memory', () => {
  it('is found by its id, wherever it was moved', () => {
    expect(findCell(cells, at({ cell: 'c2', index: 0 }), none)).toEqual({ at: 2, sure: true });
  });

  it('is found by its index where the cell there begins as it did', () => {
    expect(findCell(cells, at({ index: 3, begins: 'import pandas as pd' }), none)).toEqual({ at: 3, sure: true });
  });

  it('is the nearest one that begins as it did, if another stands at its index', () => {
    expect(findCell(cells, at({ index: 2, begins: 'import pandas as pd' }), none)?.at).toBe(1);
    expect(findCell(cells, at({ index: 1, begins: '# Prices of Zürich' }), none)?.at).toBe(0);
  });

  it('is found by the words of its snippet, whose line breaks are gone', () => {
    const said = { snippet: '…table.groupby("zone") λ = scale…', highlights: [] };
    expect(findCell(cells, at({ cell: 'gone', begins: 'rewritten' }), said)).toEqual({ at: 2, sure: true });
  });

  it('is not sure where nothing of it is left, and within the notebook even then', () => {
    expect(findCell(cells, at({ index: 9, begins: 'gone' }), none)).toEqual({ at: 3, sure: false });
    expect(findCell([], at({ index: 0 }), none)).toBeNull();
  });
});

describe('the line of a hit', () => {
  const source = [
    '# Log',
    '',
    '## Week 1',
    '- Zürich is slow',
    '',
    '## Week 2',
    '- 📈 the λ of the',
    '  ridge is 0.3'
  ].join('\n');

  it('is where its first mark is, not where its section begins', () => {
    const said = { snippet: '…📈 the λ of the ridge is 0.3', highlights: [[16, 21]] as [number, number][] };
    expect(findLine(source, at({ line: 1 }), said)).toEqual({ at: 7, sure: true });
    expect(findLine(source, at({ line: 1 }), { ...said, highlights: [[7, 8]] })).toEqual({ at: 6, sure: true });
  });

  it('is looked for from the line that was indexed', () => {
    const twice = `${source}\n${source}`;
    const said = { snippet: 'Zürich is slow', highlights: [[0, 6]] as [number, number][] };
    expect(findLine(twice, at({ line: 9 }), said).at).toBe(11);
  });

  it('is looked for in the whole file if that was changed', () => {
    const said = { snippet: 'Zürich is slow', highlights: [] };
    expect(findLine(source, at({ line: 8, changed: true }), said)).toEqual({ at: 3, sure: true });
  });

  it('is the one that was indexed where the words are gone, and sure only if nothing changed', () => {
    const said = { snippet: 'what (was here) once?', highlights: [] };
    expect(findLine(source, at({ line: 4 }), said)).toEqual({ at: 3, sure: true });
    expect(findLine(source, at({ line: 400, changed: true }), said)).toEqual({ at: 7, sure: false });
  });
});
