/** Debugger and index show what the server's golden answers say, number by number. */

import { act, render, screen, within } from '@testing-library/react';
import { readFileSync } from 'fs';
import { join } from 'path';

import type { IAnswer, IExplanation, IFolder, IJob, IListed, IModel, IProfile, IStatus } from '../../api/types';
import { Contributions } from '../../components/debugger/explanation';
import { RankedLists } from '../../components/debugger/rankedLists';
import { Index } from '../../components/index/indexSection';
import { decimals, figure, signed } from '../../components/shared/format';
import { splitTitle, termName } from '../../components/shared/labels';
import { IndexModel } from '../../models/indexModel';
import { indexApi, settle, trans, picks } from '../helpers/samples';

function golden<T>(name: string): T {
  return JSON.parse(readFileSync(join(__dirname, '../../../../tests/golden/rest', `${name}.json`), 'utf-8')) as T;
}

const answer = golden<IAnswer>('answer.search');

describe('the golden answer of a search', () => {
  it.each(['keyword', 'vector', 'fused'] as const)('has its %s list shown rank by rank', column => {
    const long = jest.fn();
    render(<RankedLists lists={answer.lists!} chosen={null} onChoose={long} trans={trans} />);
    const all = screen.queryByRole('button', { name: /^Show all/ });
    act(() => all?.click());
    const list = answer.lists![column];
    const rows = [...document.querySelectorAll(`table[data-column="${column}"] tbody tr`)].map(row => row.textContent);
    const digits = decimals(list.map(one => one.score));
    const said = ({ title, begins }: IListed): string => {
      const { name, file } = splitTitle(title);
      return name + (list.filter(one => one.title === title).length > 1 ? begins : file);
    };
    expect(rows).toEqual(list.map(one => `${one.rank}${said(one)}${figure(one.score, digits)}`));
  });

  it.each(answer.hits.map(hit => [hit.title, hit] as const))('explains the rank of %s', (_, hit) => {
    const without = answer.lists!.without[hit.memory_id];
    render(<Contributions scored={{ hit, without }} terms={answer.terms} trans={trans} />);
    const points = Object.values(hit.signals).map(seen => seen.contribution);
    const digits = decimals([...points, hit.score]);
    act(() => screen.queryByRole('button', { name: /add(s)? nothing$/ })?.click());
    for (const term of answer.terms) {
      const header = screen.getByRole('rowheader', { name: termName(term, trans) });
      const cells = within(header.closest('tr')!).getAllByRole('cell');
      expect(cells[1].textContent).toBe(signed(hit.signals[term].contribution, digits));
      expect(cells[2].textContent).toMatch(new RegExp(`\\b${without[term]}\\b`));
    }
    // The golden numbers are rounded to three decimals, each by itself.
    expect(Math.abs(points.reduce((sum, one) => sum + one, 0) - hit.score!)).toBeLessThan(0.0005 * (points.length + 1));
  });

  it('names every term of every profile', () => {
    const { profiles } = golden<{ profiles: (IProfile & { terms: string[] })[] }>('profiles');
    const terms = new Set(profiles.flatMap(profile => profile.terms));
    for (const term of terms) {
      expect(termName(term, trans)).toBeTruthy();
    }
    expect(profiles.filter(profile => profile.default)).toHaveLength(1);
  });

  it('has reasons for a memory that is not in it', () => {
    const away = golden<IExplanation>('explanation.away');
    expect(away.hit).toBeNull();
    expect(away.reasons.length).toBeGreaterThan(0);
  });
});

describe('the golden status', () => {
  it('is shown as index: folders, failures, models, store', async () => {
    const status = golden<IStatus>('status');
    const { folders } = golden<{ folders: IFolder[] }>('folders');
    const { jobs } = golden<{ jobs: IJob[] }>('jobs');
    const { models } = golden<{ models: IModel[] }>('models');
    const api = indexApi(status);
    api.folders.mockResolvedValue(folders);
    api.models.mockResolvedValue(models);
    jest.useFakeTimers();
    const model = new IndexModel({ api });
    model.isOpen = true;
    await jest.advanceTimersByTimeAsync(10);
    await settle();
    jest.useRealTimers();
    render(<Index model={model} trans={trans} {...picks} />);

    expect(screen.getByText(jobs[0].failed[0][1])).toBeTruthy();
    const row = within(screen.getByRole('region', { name: 'Folders' })).getByRole('listitem');
    expect(row.textContent).toContain(`${folders[0].memories} memories in ${folders[0].files} files`);
    expect(row.textContent).toContain(`${folders[0].changed} file changed, new or gone`);
    for (const one of models.filter(one => !one.active)) {
      expect(screen.getByRole('button', { name: `Fetch ${one.name}…` })).toBeTruthy();
    }
    expect(screen.getByText(status.store.path)).toBeTruthy();
    model.dispose();
  });
});
