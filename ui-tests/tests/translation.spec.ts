import { galata } from '@jupyterlab/galata';

import { expect, test } from './test';

const words = {
  '': { domain: 'jupyter_memory', language: 'de_DE', plural_forms: 'nplurals=2; plural=(n != 1);', version: '1' },
  'What was it about?': ['Worum ging es?'],
  Debugger: ['Warum so?']
};

test.describe('In another language', () => {
  test.use({
    autoGoto: false,
    mockSettings: { ...galata.DEFAULT_SETTINGS, '@jupyterlab/translation-extension:plugin': { locale: 'de_DE' } }
  });

  test('The panel speaks the language of Lab', async ({ page, panel }) => {
    await page.route(/\/lab\/api\/translations/, route =>
      route.fulfill({ json: { data: { jupyter_memory: words }, message: '' } })
    );
    await page.goto();
    await panel.open();
    await expect(panel.box).toHaveAttribute('placeholder', 'Worum ging es?');
    await expect(panel.title('Warum so')).toBeVisible();
  });
});
