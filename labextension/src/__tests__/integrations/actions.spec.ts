import { Clipboard, Notification } from '@jupyterlab/apputils';

import { LabActions } from '../../integrations/actions';
import type { Opener } from '../../integrations/open';
import { hit, settle, trans } from '../helpers/samples';
import { item, notebook, RawResponse, Server } from '../helpers/server';

afterEach(() => jest.restoreAllMocks());

function lab(opens = true) {
  const onDocument = jest.fn();
  const server = new Server();
  server.on('POST item', ({ body }) => item(body.memory_id));
  const opener = { open: async () => opens } as unknown as Opener;
  const actions = new LabActions({
    api: server.api,
    opener,
    notebooks: null,
    trans,
    onDocument,
    onMissing: () => undefined
  });
  return { server, actions, used: () => server.bodies('POST access') };
}

describe('what a person does with a memory', () => {
  it('counts when it is opened, and not when there was nothing to open', async () => {
    const [there, gone] = [lab(), lab(false)];
    await there.actions.open(hit(), notebook, false);
    await gone.actions.open(hit(), notebook, false);
    await settle();
    expect([there.used(), gone.used()]).toEqual([[{ memory_id: 'aa01' }], []]);
  });

  it('counts when it is copied, and needs a notebook to be inserted', async () => {
    const { actions, used } = lab();
    const copied = jest.spyOn(Clipboard, 'copyToSystem').mockImplementation(() => undefined);
    await actions.copy(hit());
    await actions.insert(hit());
    await settle();
    expect([copied.mock.calls, used()]).toEqual([[['text']], [{ memory_id: 'aa01' }]]);
  });

  it('goes well also where it cannot be counted', async () => {
    const { server, actions, used } = lab();
    const told = jest.spyOn(Notification, 'error');
    server.on('POST access', () => new RawResponse(503, { message: 'Busy', reason: 'StoreLocked' }));
    await actions.open(hit(), notebook, false);
    await settle();
    expect([used().length, told.mock.calls]).toEqual([1, []]);
  });
});
