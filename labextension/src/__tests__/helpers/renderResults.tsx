/** The results of a search on the screen, for specs. */

import { UseSignal } from '@jupyterlab/ui-components';
import { act, fireEvent, render, screen } from '@testing-library/react';

import type { IAnswer } from '../../api/types';
import { Results } from '../../components/results/results';
import { SearchModel } from '../../models/searchModel';
import type { IActions } from '../../tokens';
import { trans } from './samples';
import { found, advance, Server } from './server';

type Doing = jest.Mocked<IActions> & { hasNotebook: boolean };

export interface IRendered {
  server: Server;
  model: SearchModel;
  actions: Doing;
  onIndex: jest.Mock;
  onLeave: jest.Mock;
  list: HTMLElement;
  options: () => HTMLElement[];
}

/** Search, and show what is found: as cards, or as rows of the dense list. */
export async function renderResults(answer: IAnswer = found(), query = 'price', dense = false): Promise<IRendered> {
  const server = new Server();
  server.on('POST search', () => answer);
  const model = new SearchModel({ api: server.api });
  model.selection.set({ dense });
  const actions: Doing = {
    open: jest.fn(),
    insert: jest.fn(),
    copy: jest.fn(),
    drag: jest.fn(),
    toNotebook: jest.fn(),
    around: jest.fn(async () => []),
    insertCells: jest.fn(),
    render: null,
    highlight: null,
    hasNotebook: true
  };
  const [onIndex, onLeave] = [jest.fn(), jest.fn()];
  const props = { model, actions, trans, onIndex, onLeave };
  render(<UseSignal signal={model.stateChanged}>{() => <Results {...props} />}</UseSignal>);
  await act(async () => {
    model.answers.setQuery(query);
    await advance(300);
  });
  const list = screen.queryByRole('listbox') as HTMLElement;
  return { server, model, actions, onIndex, onLeave, list, options: () => screen.queryAllByRole('option') };
}

/** Press a key in the list. */
export const press = (list: HTMLElement, key: string, more = {}): void =>
  void fireEvent.keyDown(list, { key, ...more });
