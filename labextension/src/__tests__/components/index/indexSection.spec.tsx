import { UseSignal } from '@jupyterlab/ui-components';
import { Widget } from '@lumino/widgets';
import { act, cleanup, fireEvent, render, screen, within } from '@testing-library/react';

import { ApiError, MISSING } from '../../../api/memoryApi';
import type { IFolder, IStatus } from '../../../api/types';
import { shortName } from '../../../components/index/folders';
import { Index, indexSection } from '../../../components/index/indexSection';
import { SectionWidget } from '../../../components/panel';
import { IndexModel } from '../../../models/indexModel';
import { folder, indexApi, job, ROOT, settle, status, trans, picks } from '../../helpers/samples';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const NAME = 'notebooks/zürich';

async function shown(
  first: IStatus = status(),
  more: { folderNow?: () => string; pickFolder?: () => Promise<string | null> } = {},
  api = indexApi(first)
): Promise<{ api: typeof api; model: IndexModel }> {
  const model = new IndexModel({ api });
  render(
    <UseSignal signal={model.stateChanged}>
      {() => <Index model={model} trans={trans} {...picks} {...more} />}
    </UseSignal>
  );
  act(() => void (model.isOpen = true));
  await done(10);
  return { api, model };
}

async function done(ms = 5): Promise<void> {
  await act(async () => {
    await jest.advanceTimersByTimeAsync(ms);
    await settle();
  });
}

describe('the keyboard', () => {
  it('stays where it was while the server is asked, and finds a place when a question is answered', async () => {
    const { api } = await shown();
    let counted: (folders: IFolder[]) => void = () => undefined;
    api.folders.mockImplementation(() => new Promise(give => (counted = give)));
    const look = screen.getByRole('button', { name: 'Look for changes' });
    const before = api.folders.mock.calls.length;
    look.focus();
    fireEvent.click(look);
    fireEvent.click(look);
    await done();
    expect(document.activeElement).toBe(look);
    expect([look.getAttribute('aria-disabled'), look.textContent]).toEqual(['true', 'Looking…']);
    expect(api.folders).toHaveBeenCalledTimes(before + 1);
    counted([folder()]);
    await done();
    fireEvent.click(screen.getByRole('button', { name: `Remove ${NAME}` }));
    expect(document.activeElement?.textContent).toBe('Keep');
    fireEvent.click(screen.getByRole('button', { name: 'Keep' }));
    expect(document.activeElement).toBe(screen.getByRole('button', { name: `Remove ${NAME}` }));
  });
});

describe('folders', () => {
  it('tell what is indexed, how many memories in how many files, and what changed', async () => {
    await shown();
    const row = within(screen.getByRole('region', { name: 'Folders' })).getByRole('listitem');
    expect(row.textContent).toContain(NAME);
    expect(row.textContent).toContain('312 memories in 39 files');
    expect(row.textContent).toContain('3 files changed, new or gone');
  });

  it('tell large counts with separators', async () => {
    const folders = [folder({ memories: 12_345, files: 2_500, changed: 1_200 })];
    const { api, model } = await shown(status({ folders }));
    api.folders.mockResolvedValue(folders);
    await act(async () => {
      void model.countChanges();
      await settle();
    });
    const row = within(screen.getByRole('region', { name: 'Folders' })).getByRole('listitem');
    expect(row.textContent).toContain('12,345 memories in 2,500 files');
    expect(row.textContent).toContain('1,200 files changed, new or gone');
    fireEvent.click(screen.getByRole('button', { name: `Remove ${NAME}` }));
    expect(screen.getByText('Forget its 12,345 memories? The files stay.')).toBeTruthy();
  });

  it('are indexed again when asked', async () => {
    const { api } = await shown();
    fireEvent.click(screen.getByRole('button', { name: 'Index now' }));
    await done();
    expect(api.index).toHaveBeenCalledWith(`${ROOT}/${NAME}`, undefined);
  });

  it('can be watched or not', async () => {
    const { api } = await shown();
    const box = screen.getByRole('checkbox', { name: `Watched: ${NAME}` }) as HTMLInputElement;
    expect(box.checked).toBe(true);
    fireEvent.click(box);
    await done();
    expect(api.setFolder).toHaveBeenCalledWith({ path: `${ROOT}/${NAME}`, watched: false });
    expect(box.checked).toBe(false);
  });

  it('are forgotten only after a second question, in which Keep has the focus', async () => {
    const { api } = await shown();
    fireEvent.click(screen.getByRole('button', { name: `Remove ${NAME}` }));
    expect(document.activeElement?.textContent).toBe('Keep');
    fireEvent.keyDown(document.activeElement!, { key: 'Escape' });
    expect(screen.queryByRole('button', { name: 'Forget' })).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: `Remove ${NAME}` }));
    expect(screen.getByText('Forget its 312 memories? The files stay.')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Forget' }));
    await done();
    expect(api.setFolder).toHaveBeenCalledWith({ path: `${ROOT}/${NAME}`, remove: true, count: 312 });
    expect(screen.getByText(/^No folder is indexed yet/)).toBeTruthy();
  });

  it('are not forgotten where the number of memories has changed, and the new number is read', async () => {
    const { api } = await shown();
    api.setFolder.mockRejectedValue(new ApiError(409, 'CountDiffers', 'This would forget 313 memories.'));
    const asked = api.status.mock.calls.length;
    fireEvent.click(screen.getByRole('button', { name: `Remove ${NAME}` }));
    fireEvent.click(screen.getByRole('button', { name: 'Forget' }));
    await done();
    expect(screen.getByText(/^Nothing was forgotten: the number of memories changed/)).toBeTruthy();
    expect(api.status.mock.calls.length).toBeGreaterThan(asked);
  });

  it('say that they are being forgotten, once', async () => {
    const { api } = await shown();
    let gone = (_: IFolder[]): void => undefined;
    api.setFolder.mockImplementation(() => new Promise(give => (gone = give)));
    fireEvent.click(screen.getByRole('button', { name: `Remove ${NAME}` }));
    fireEvent.click(screen.getByRole('button', { name: 'Forget' }));
    await done();
    const busy = screen.getByRole('button', { name: 'Forgetting…' });
    expect(busy.getAttribute('aria-disabled')).toBe('true');
    fireEvent.click(busy);
    expect(api.setFolder).toHaveBeenCalledTimes(1);
    gone([]);
    await done();
    expect(screen.queryByRole('button', { name: 'Forgetting…' })).toBeNull();
  });

  it('say when they are gone', async () => {
    await shown(status({ folders: [folder({ exists: false })] }));
    expect(screen.getByText(/^The folder is gone/)).toBeTruthy();
  });

  it('are named as seen from Lab’s root', () => {
    expect(shortName(`${ROOT}/a/ü`, ROOT)).toBe('a/ü');
    expect(shortName(`${ROOT}/a/ü`, `${ROOT}/`)).toBe('a/ü');
    expect(shortName(ROOT, `${ROOT}/`)).toBe('');
    expect(shortName(`${ROOT}2/a`, ROOT)).toBe(`${ROOT}2/a`);
    expect(shortName('/a', '')).toBe('/a');
  });
});

describe('adding a folder', () => {
  it('takes Lab’s current folder unless another one is typed', async () => {
    const { api } = await shown(status(), { folderNow: () => 'notebooks/λ' });
    const field = screen.getByRole('textbox', { name: /^Index a folder/ }) as HTMLInputElement;
    expect(field.value).toBe('notebooks/λ');
    fireEvent.change(field, { target: { value: 'data' } });
    fireEvent.click(screen.getByRole('checkbox', { name: 'Watch it' }));
    fireEvent.submit(field);
    await done();
    expect(api.index).toHaveBeenCalledWith('data', false);
  });

  it('takes one that was picked', async () => {
    const { api } = await shown(status(), { pickFolder: async () => 'picked' });
    fireEvent.click(screen.getByRole('button', { name: 'Browse…' }));
    await done();
    fireEvent.click(screen.getByRole('button', { name: 'Index' }));
    await done();
    expect(api.index).toHaveBeenCalledWith('picked', true);
  });

  it('keeps the path that the server refuses, and says why', async () => {
    const { api } = await shown();
    api.index.mockRejectedValueOnce(new ApiError(400, 'InvalidField', 'path: there is nothing at this path.'));
    const field = screen.getByRole('textbox', { name: /^Index a folder/ }) as HTMLInputElement;
    fireEvent.change(field, { target: { value: '/nowhere' } });
    fireEvent.submit(field);
    await done();
    expect(screen.getByRole('alert').textContent).toContain('There is nothing at this path.');
    expect(field.value).toBe('/nowhere');
  });
});

describe('jobs', () => {
  it('show how far they are, and can be cancelled', async () => {
    const { api } = await shown(status({ jobs: [job()] }));
    const bar = screen.getByRole('progressbar', { name: `Indexing ${NAME}` }) as HTMLProgressElement;
    expect([bar.value, bar.max]).toEqual([120, 400]);
    expect(screen.getByText('120 of 400 files')).toBeTruthy();
    api.cancelJob.mockImplementationOnce(async () => job());
    fireEvent.click(screen.getByRole('button', { name: `Cancel indexing ${NAME}` }));
    await done();
    expect(api.cancelJob).toHaveBeenCalledWith('j1');
    const button = screen.getByRole('button', { name: `Cancel indexing ${NAME}` }) as HTMLButtonElement;
    expect([button.textContent, button.getAttribute('aria-disabled')]).toEqual(['Stopping…', 'true']);
  });

  it('have a bar without an end while files are counted', async () => {
    await shown(status({ jobs: [job({ done: 0, total: null })] }));
    expect(screen.getByRole('progressbar').hasAttribute('value')).toBe(false);
  });

  it('fold away what failed and what was skipped, each with its reason', async () => {
    const over = job({
      state: 'failed',
      summary: '38 files indexed.',
      failed: [[`${ROOT}/notebooks/broken.ipynb`, 'It is no JSON.']],
      skipped: [[`${ROOT}/big.csv`, 'It is larger than 20 MB.']]
    });
    await shown(status({ jobs: [over] }));
    const failed = screen.getByText('1 failed').closest('details')!;
    expect(failed.open).toBe(false);
    expect(within(failed).getByText('notebooks/broken.ipynb').nextElementSibling?.textContent).toBe('It is no JSON.');
    expect(screen.getByText('1 skipped')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: /^Dismiss/ }));
    expect(screen.queryByText('1 failed')).toBeNull();
  });
});

describe('model and store', () => {
  it('change once a person agreed to size and licence; the change is shown, stopped and dismissed', async () => {
    const { api, model } = await shown();
    const section = screen.getByRole('region', { name: 'Model' });
    const fetch = within(section).getByRole('button', { name: 'Fetch nomic…' });
    fireEvent.click(fetch);
    const question = within(section).getByRole('group', { name: 'Fetch nomic?' });
    expect(question.textContent).toMatch(
      /547 MB from https:\/\/huggingface\.co\/λ\? .* Apache-2\.0\. .* needs here: mlx\./
    );
    expect(document.activeElement?.textContent).toBe('Not now');
    fireEvent.keyDown(question, { key: 'Escape' });
    fireEvent.click(within(section).getByRole('button', { name: 'Fetch nomic…' }));
    expect(api.useModel).not.toHaveBeenCalled();
    fireEvent.click(within(section).getByRole('button', { name: 'Fetch' }));
    const one = job({
      job_id: 'm1',
      path: '',
      model: 'nomic',
      summary: 'fetching',
      done: 250_000_000,
      total: 547_000_000
    });
    api.now = status({ jobs: [one] });
    await done();
    expect(api.useModel).toHaveBeenCalledWith('nomic', 547_000_000);
    expect(within(section).getByRole('progressbar', { name: 'Fetching nomic' })).toBeTruthy();
    expect(section.textContent).toContain('250 MB of 547 MB');
    expect([model.jobs, model.progress.phase]).toEqual([[], 'idle']);

    // The next step counts from the beginning.
    api.now = status({ jobs: [{ ...one, summary: 'embedding', done: 3, total: 90 }] });
    await done(2_000);
    expect(section.textContent).toContain('3 of 90 vectors');
    api.cancelJob.mockResolvedValueOnce(one);
    fireEvent.click(within(section).getByRole('button', { name: 'Cancel the change to nomic' }));
    await done();
    expect(api.cancelJob).toHaveBeenCalledWith('m1');
    const asked = api.models.mock.calls.length;
    api.now = status({ jobs: [{ ...one, state: 'cancelled', summary: 'Stopped.' }] });
    await done(2_000);
    expect(within(section).getByRole('status').textContent).toBe('Stopped.');
    expect(api.models).toHaveBeenCalledTimes(asked + 1);
    fireEvent.click(within(section).getByRole('button', { name: 'Dismiss' }));
    expect(model.modelJob).toBeNull();
  });

  it('go back at once to a model that is here, and say why another cannot be used', async () => {
    const api = indexApi();
    const [bundled, larger] = await api.models();
    api.models.mockResolvedValue([
      { ...larger, active: true },
      { ...bundled, active: false }
    ]);
    await shown(status(), {}, api);
    fireEvent.click(screen.getByRole('button', { name: 'Use static' }));
    await done();
    expect(api.useModel).toHaveBeenCalledWith('static', 0);
    cleanup();
    api.models.mockResolvedValue([bundled, { ...larger, problem: 'There is no MLX for this machine.' }]);
    await shown(status(), {}, api);
    expect(screen.getByText('There is no MLX for this machine.')).toBeTruthy();
    expect(screen.queryByRole('button', { name: /nomic/ })).toBeNull();
  });

  it('name the model, and what it is', async () => {
    await shown();
    const section = screen.getByRole('region', { name: 'Model' });
    expect(section.textContent).toContain('static');
    expect(section.textContent).toContain('in use · 256 dimensions · 8.3 MB');
  });

  it('say where the store is, and how large', async () => {
    await shown();
    const section = screen.getByRole('region', { name: 'Store' });
    expect(section.textContent).toContain('memory.sqlite');
    expect(within(section).getByText('12,408')).toBeTruthy();
    expect(within(section).getByText('148 MB')).toBeTruthy();
  });

  it('send for the doctor, and list what it finds', async () => {
    const { api } = await shown();
    fireEvent.click(screen.getByRole('button', { name: 'Check the store' }));
    await done();
    expect(screen.getByText('No problem found.')).toBeTruthy();
    api.doctor.mockResolvedValueOnce(['3 chunks have no vector. Type: %memory reembed']);
    fireEvent.click(screen.getByRole('button', { name: 'Check the store' }));
    await done();
    expect(screen.getByText('1 problem found:')).toBeTruthy();
    expect(screen.getByText(/^3 chunks have no vector/)).toBeTruthy();
  });

  it('show the notices of the store', async () => {
    await shown(status({ notices: ['Meaning is not searched: the model is not here.'] }));
    expect(screen.getByText(/^Meaning is not searched/)).toBeTruthy();
  });

  it('say what is wrong with the server, and try again', async () => {
    const api = indexApi();
    api.status.mockRejectedValueOnce(new ApiError(404, MISSING, 'The server does not know jupyter-memory.'));
    await shown(status(), {}, api);
    fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await done(50);
    expect(screen.getByRole('region', { name: 'Store' })).toBeTruthy();
  });
});

describe('the widget of the index', () => {
  it('keeps its model up to date while it is shown, and tells in its title what goes on', async () => {
    const api = indexApi(status({ jobs: [job()] }));
    const model = new IndexModel({ api });
    const widget = new SectionWidget(indexSection({ model, trans, ...picks }));
    act(() => Widget.attach(widget, document.body));
    expect(model.isOpen).toBe(true);
    await done(10);
    expect(widget.title.label).toBe('Index · indexing…');
    api.now = status({ jobs: [job({ state: 'done', failed: [['/a', 'It is no JSON.']] })] });
    await done(1_100);
    expect(widget.title.label).toBe('Index · 1 failed');
    widget.hide();
    expect(model.isOpen).toBe(false);
    act(() => widget.dispose());
    model.dispose();
  });
});
