// One line of what passed, from Playwright's JSON report, for programs that read logs.
const { stats } = require('./test-results/results.json');

const passed = stats.expected + stats.flaky;
const asides = [stats.flaky && `${stats.flaky} flaky`, stats.skipped && `${stats.skipped} skipped`].filter(Boolean);
process.stdout.write(`${passed} passed, ${stats.unexpected} failed${asides.length ? ` (${asides.join(', ')})` : ''}\n`);
