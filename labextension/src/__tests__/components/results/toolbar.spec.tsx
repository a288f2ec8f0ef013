import { act, fireEvent, render, screen } from '@testing-library/react';

import { ToolbarButtons } from '../../../components/results/results';
import { renderResults } from '../../helpers/renderResults';
import { trans } from '../../helpers/samples';
import { found } from '../../helpers/server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('the signs in the title', () => {
  it('hand the question to the notebook, if there is one', async () => {
    const { model, actions } = await renderResults(found(), ' prices of Zürich ');
    const { rerender } = render(<ToolbarButtons model={model} actions={actions} trans={trans} />);
    fireEvent.click(screen.getByRole('button', { name: 'Insert the search as %memsearch' }));
    expect(actions.toNotebook).toHaveBeenCalledWith('--limit 20 prices of Zürich');

    actions.hasNotebook = false;
    const sign = screen.getByRole('button', { name: 'Insert the search as %memsearch' });
    fireEvent.mouseOver(sign);
    expect(sign.getAttribute('aria-disabled')).toBe('true');
    fireEvent.click(sign);
    expect(actions.toNotebook).toHaveBeenCalledTimes(1);

    act(() => model.answers.setQuery('  '));
    rerender(<ToolbarButtons model={model} actions={actions} trans={trans} />);
    expect(screen.queryByRole('button', { name: 'Insert the search as %memsearch' })).toBeNull();
  });
});
