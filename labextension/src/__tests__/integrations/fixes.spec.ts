import { nullTranslator } from '@jupyterlab/translation';

import type { IItem, IPlace } from '../../api/types';
import { INSERT_BUTTON, showFixes, SOURCE_LINK } from '../../integrations/outputs';

const FAILED = 'orders = load()\njoined = orders.merge(λ)';
const FIXED = 'orders = load()\njoined = orders.merge(λ, on="id")';

const items: Record<string, Partial<IItem>> = {};
showFixes(async id => (items[id] ?? Promise.reject(new Error('gone'))) as IItem, nullTranslator.load(''));

/** Draw a hint, and return what is added to it. */
async function drawn(fix: Partial<IItem>): Promise<HTMLElement> {
  const both = { kind: 'history', lang: 'python', event_at: '2024-03-06T12:00:00Z', place: {} as IPlace };
  items.fa01 = { ...both, memory_id: 'fa01', text: FAILED };
  items.f101 = { ...both, memory_id: 'f101', text: FIXED, source: '/n/shop.ipynb', ...fix };
  document.body.innerHTML = `<span class="jp-Memory-fixHint" data-memory="${fix.memory_id ?? 'f101'}" data-failed="fa01">You fixed it.</span>`;
  const hint = document.body.querySelector('span')!;
  for (let times = 0; times < 2; times++) {
    const shown = new Event('animationstart', { bubbles: true });
    hint.dispatchEvent(Object.assign(shown, { animationName: 'jp-memory-shown' }));
  }
  await new Promise(resolve => setTimeout(resolve));
  return hint;
}

afterEach(() => document.body.replaceChildren());

describe('the hint after an exception', () => {
  it('names day, notebook and changed line once, shows the change, and inserts the fix', async () => {
    const hint = await drawn({});
    expect(hint.querySelectorAll('div')).toHaveLength(1);
    expect(hint.querySelector(`a.${SOURCE_LINK}`)).toHaveProperty('textContent', 'shop.ipynb');
    expect(hint.querySelector('code')?.textContent).toBe('joined = orders.merge(λ, on="id")');
    expect(hint.textContent).toContain('2024');

    const [show, insert] = hint.querySelectorAll('button');
    const change = hint.querySelector('pre')!;
    expect(change.hidden).toBe(true);
    show.click();
    expect(change.hidden).toBe(false);
    expect(change.textContent).toBe('- joined = orders.merge(λ)\n+ joined = orders.merge(λ, on="id")');
    expect([insert.className, insert.value, insert.dataset.memory]).toEqual([INSERT_BUTTON, FIXED, 'f101']);
  });

  it('has no button to insert a note', async () => {
    const hint = await drawn({ kind: 'note', text: 'Merge on id.', lang: '' });
    expect(Array.from(hint.querySelectorAll('button'), one => one.textContent)).toEqual(['Show']);
  });

  it('stays a sentence where the store does not have the fix', async () => {
    expect((await drawn({ memory_id: 'ffff' })).innerHTML).not.toContain('div');
  });
});
