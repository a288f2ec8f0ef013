import { CommandRegistry } from '@lumino/commands';

import { keepArrows } from '../sliders';

/** Press a key on a slider, and return the commands that ran for it. */
function pressed(key: string, box: string): string[] {
  document.body.innerHTML = `<div class="jp-Notebook"><div class="${box}"><div role="slider" tabindex="0"></div></div></div>`;
  const commands = new CommandRegistry();
  const ran: string[] = [];
  for (const name of ['ArrowUp', 'S']) {
    commands.addCommand(name, { execute: () => void ran.push(name) });
    commands.addKeyBinding({ command: name, keys: [name], selector: '.jp-Notebook :focus' });
  }
  const hear = (event: KeyboardEvent): void => commands.processKeydownEvent(event);
  document.addEventListener('keydown', hear, true);
  const slider = document.querySelector<HTMLElement>('[role="slider"]')!;
  slider.focus();
  const code = { ArrowUp: 38, s: 83 }[key];
  slider.dispatchEvent(new KeyboardEvent('keydown', { key, keyCode: code, bubbles: true }));
  document.removeEventListener('keydown', hear, true);
  return ran;
}

describe('the arrow keys', () => {
  it('are the slider’s, and other keys those of the notebook', async () => {
    expect(pressed('ArrowUp', 'jp-MemoryExplorer-sliders')).toEqual(['ArrowUp']);
    keepArrows();
    expect(pressed('ArrowUp', 'jp-MemoryExplorer-sliders')).toEqual([]);
    expect(pressed('s', 'jp-MemoryExplorer-sliders')).toEqual(['S']);
    expect(pressed('ArrowUp', 'widget-box')).toEqual(['ArrowUp']);
    pressed('ArrowUp', 'jp-MemoryExplorer-sliders');
    await new Promise(resolve => setTimeout(resolve, 5));
    expect(document.querySelector('[data-lm-suppress-shortcuts]')).toBeNull();
  });
});
