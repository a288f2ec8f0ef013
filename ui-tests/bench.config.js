// Measures the panel in a real Lab; benchmarks/panel.py makes the store and reads the numbers.
const config = require('./playwright.config');
const { open } = require('./servers');

const env = { ...open.env, JUPYTER_MEMORY_PATH: process.env.BENCH_STORE ?? open.env.JUPYTER_MEMORY_PATH };

module.exports = {
  ...config,
  testDir: 'bench',
  testMatch: '**/*.bench.ts',
  retries: 0,
  timeout: 240_000,
  reporter: [['line']],
  webServer: { ...open, env }
};
