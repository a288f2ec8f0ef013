// Galata on the system's Chromium: one browser, one server, no downloads.
const base = require('@jupyterlab/galata/lib/playwright-config');
const waiting = require('@jupyterlab/galata/lib/utils');
const { chromium } = require('./browser');
const { open, guarded } = require('./servers');

// Galata gives Lab 15 seconds to start, whatever the time of a test.
const { waitForCondition } = waiting;
waiting.waitForCondition = (isMet, timeout = 90_000) => waitForCondition(isMet, timeout);

module.exports = {
  ...base,
  testDir: 'tests',
  workers: 1,
  // A second try tells a slow machine from a broken panel; `flaky` is counted and printed.
  retries: 1, // what passes the second time is reported as flaky
  // Patience costs nothing where all is well.
  timeout: 180_000,
  expect: { timeout: 45_000 },
  reporter: [['list'], ['json', { outputFile: 'test-results/results.json' }], ['html', { open: 'never' }]],
  globalTeardown: require.resolve('./teardown'),
  use: {
    ...base.use,
    baseURL: `http://localhost:${process.env.UI_PORT}`,
    viewport: { width: 1280, height: 860 },
    video: 'off', // needs an ffmpeg that only Playwright's own download has
    trace: 'on-first-retry', // recording takes a third of a test's time
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: chromium,
      args: [
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync'
      ]
    }
  },
  webServer: [open, guarded]
};
