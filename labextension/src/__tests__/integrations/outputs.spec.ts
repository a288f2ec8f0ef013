import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';

import {
  followOutputs,
  followSources,
  INSERT_BUTTON,
  keepArrows,
  nameSliders,
  OUTPUT_BUTTON,
  showPictures,
  SOURCE_LINK
} from '../../integrations/outputs';

const OUTPUT_PICTURE = 'jp-Memory-outputPicture';

afterEach(() => document.body.replaceChildren());

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

/** Follow the buttons of outputs, and note what they ask for; `isOpen` is whether there is a notebook to insert into. */
function followed(isOpen = true): unknown[][] {
  const asked: unknown[][] = [];
  followOutputs({
    search: query => void asked.push(['search', query]),
    insert: async (source, button) => {
      asked.push(['insert', source, button.className]);
      return isOpen;
    },
    used: memory_id => void asked.push(['used', memory_id])
  });
  return asked;
}

describe('the button below the results of %memsearch', () => {
  it('searches for its question in the panel', () => {
    const asked = followed();
    document.body.innerHTML = `<button class="${OUTPUT_BUTTON}" value="λ &quot;of&quot; Zürich" hidden><b>Open</b></button><button>Other</button>`;
    document.body.querySelector('b')!.click();
    document.body.querySelector<HTMLElement>('button:last-child')!.click();
    expect(asked).toEqual([['search', 'λ "of" Zürich']]);
  });
});

describe('the title of a result', () => {
  it('opens its memory before Lab follows the link, unless a key asks for another tab', () => {
    const opened: string[] = [];
    const followedByLab: string[] = [];
    const lab = ({ target }: Event): void => void followedByLab.push((target as Element).textContent ?? '');
    document.body.addEventListener('click', lab);
    followSources(memory_id => void opened.push(memory_id));
    document.body.innerHTML = `<a class="${SOURCE_LINK}" data-memory="aa01" href="#"><b>λ</b></a><a class="${SOURCE_LINK}" href="#">untrusted</a><a href="#">other</a>`;
    document.body.querySelector('b')!.click();
    document.body.querySelectorAll('a').forEach((link, i) => i && link.click());
    const event = new MouseEvent('click', { ctrlKey: true, bubbles: true, cancelable: true });
    document.body.querySelector('b')!.dispatchEvent(event);
    document.body.removeEventListener('click', lab);

    expect(opened).toEqual(['aa01']);
    expect(followedByLab).toEqual(['untrusted', 'other', 'λ']);
    expect(event.defaultPrevented).toBe(false);
  });
});

describe('the button of a fix', () => {
  it('inserts its code beside itself, and counts the use of the memory that it names', async () => {
    const asked = followed();
    const fix = 'λ = rates["a"]&#10;λ &lt; 3';
    document.body.innerHTML = `<button class="${INSERT_BUTTON}" value='${fix}' data-memory="aa01" hidden>Insert</button><button class="${INSERT_BUTTON}" value="1">Insert</button><button class="${INSERT_BUTTON}" value="">Nothing</button>`;
    document.body.querySelectorAll('button').forEach(button => button.click());
    await Promise.resolve();
    expect(asked).toEqual([
      ['insert', 'λ = rates["a"]\nλ < 3', INSERT_BUTTON],
      ['insert', '1', INSERT_BUTTON],
      ['used', 'aa01']
    ]);
  });

  it('counts no use if nothing was inserted', async () => {
    const asked = followed(false);
    document.body.innerHTML = `<button class="${INSERT_BUTTON}" value="1" data-memory="aa01">Insert</button>`;
    document.body.querySelector('button')!.click();
    await Promise.resolve();
    expect(asked).toEqual([['insert', '1', INSERT_BUTTON]]);
  });
});

describe('the place of a picture', () => {
  const begin = (place: Element, animationName = 'jp-memory-shown'): boolean =>
    place.dispatchEvent(Object.assign(new Event('animationstart', { bubbles: true }), { animationName }));

  const settled = (): Promise<unknown> => new Promise(resolve => setTimeout(resolve));
  let pictureOf = async (id: string): Promise<string> => `data:image/webp;base64,${id}`;

  beforeAll(() => showPictures(id => pictureOf(id), nullTranslator.load('')));

  beforeEach(() => {
    document.body.innerHTML = `<span class="${OUTPUT_PICTURE}" data-memory="a&b" title="λ of &lt;Zürich&gt;" hidden></span>`;
  });

  it('is filled from the store once, by the id alone', async () => {
    const place = document.querySelector(`.${OUTPUT_PICTURE}`)!;
    begin(place, 'another');
    expect(place.innerHTML).toBe('');
    begin(place);
    begin(place);
    await settled();
    const images = place.querySelectorAll('img');
    expect(images).toHaveLength(1);
    expect(images[0].getAttribute('src')).toBe('data:image/webp;base64,a&b');
    expect(images[0].alt).toBe('Picture: λ of <Zürich>');
  });

  it('is enlarged and made small again by its button', () => {
    const place = document.querySelector(`.${OUTPUT_PICTURE}`)!;
    begin(place);
    const button = place.querySelector('button')!;
    expect(button.title).toBe('Enlarge the picture of λ of <Zürich>');
    button.click();
    expect([button.getAttribute('aria-expanded'), place.classList.contains('jp-mod-large')]).toEqual(['true', true]);
    button.click();
    expect([button.getAttribute('aria-expanded'), place.classList.contains('jp-mod-large')]).toEqual(['false', false]);
  });

  it('is empty where the store has no such picture, and where there is no id', async () => {
    const place = document.querySelector<HTMLElement>(`.${OUTPUT_PICTURE}`)!;
    pictureOf = () => Promise.reject(new Error('NoPicture'));
    begin(place);
    await settled();
    expect(place.innerHTML).toBe('');
    delete place.dataset.memory;
    begin(place);
    expect(place.innerHTML).toBe('');
  });
});

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

describe('the name of a slider', () => {
  it('is that of the number before it', () => {
    const box = (name: string): string =>
      `<div class="widget-hbox"><label>${name}</label><input><div role="slider" tabindex="0"></div></div>`;
    document.body.innerHTML = `<div class="jp-MemoryExplorer-sliders">${box('keyword')}${box('recency')}</div>`;
    const sliders = [...document.querySelectorAll('[role="slider"]')];
    const names = (): (string | null)[] => sliders.map(slider => slider.getAttribute('aria-label'));
    const begin = (slider: Element, animationName: string): boolean =>
      slider.dispatchEvent(Object.assign(new Event('animationstart', { bubbles: true }), { animationName }));
    nameSliders();
    sliders.forEach(slider => begin(slider, 'another'));
    expect(names()).toEqual([null, null]);
    sliders.forEach(slider => begin(slider, 'jp-memory-shown'));
    expect(names()).toEqual(['keyword', 'recency']);
  });
});
