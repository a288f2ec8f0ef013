import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import { ServerConnection } from '@jupyterlab/services';

import { Opener } from '../../integrations/open';
import { hit, trans } from '../helpers/samples';
import { notebook, Server } from '../helpers/server';

afterEach(() => jest.restoreAllMocks());

/** An opener whose contents manager has a file, or answers with this status. */
function opener(answers: number, hasTabs: boolean) {
  const get = jest.fn(async () => {
    if (answers !== 200) {
      throw new ServerConnection.ResponseError(new Response('', { status: answers }));
    }
  });
  const app = { serviceManager: { contents: { get }, serverSettings: { baseUrl: 'http://h/' } } };
  const docs = { findWidget: () => undefined, openOrReveal: jest.fn() };
  const opened = jest.spyOn(window, 'open').mockReturnValue(window);
  const warned = jest.spyOn(Notification, 'warning');
  const made = new Opener({
    app: app as unknown as JupyterFrontEnd,
    api: new Server().api,
    docs: docs as unknown as IDocumentManager,
    notebooks: null,
    editors: null,
    hasTabs,
    trans
  });
  return { open: () => made.open(hit(), notebook, false), docs, opened, warned };
}

describe('a result whose file is gone', () => {
  it.each([true, false])('opens neither a tab nor a page, and is told to be gone (tabs: %s)', async hasTabs => {
    const { open, docs, opened, warned } = opener(404, hasTabs);
    await open();
    expect([docs.openOrReveal.mock.calls.length, opened.mock.calls.length]).toEqual([0, 0]);
    expect(warned.mock.calls.map(([told]) => told)).toEqual([
      expect.stringContaining('pricing_model.ipynb” no longer')
    ]);
  });
});

describe('a result whose file is there, or may be', () => {
  it.each([200, 500])('opens on a page of its own where there are no tabs (the server says %i)', async answers => {
    const { open, opened, warned } = opener(answers, false);
    await open();
    const [[url]] = opened.mock.calls;
    expect(url).toMatch(/^http:\/\/h\/notebooks\/notebooks\/z%C3%BCrich\/pricing_model\.ipynb#jupyter-memory=aa01$/);
    expect(warned).not.toHaveBeenCalled();
  });

  it('can be opened with another click where the browser keeps its page back', async () => {
    const { open, opened, warned } = opener(200, false);
    opened.mockReturnValueOnce(null);
    await open();
    const [[told, how]] = warned.mock.calls;
    expect(told).toMatch(/^The browser blocked “.*pricing_model\.ipynb”\.$/);
    expect(how!.actions!.map(one => one.label)).toEqual(['Open']);
    how!.actions![0].callback({} as MouseEvent);
    const urls = opened.mock.calls.map(([url]) => url);
    expect([urls.length, new Set(urls).size]).toEqual([2, 1]);
  });
});
