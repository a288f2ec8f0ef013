// Which Chromium to drive: CHROMIUM_PATH, else the system's.
const { existsSync } = require('fs');

const known = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium'
];

const chromium = process.env.CHROMIUM_PATH ?? known.find(existsSync);

if (!chromium) {
  throw new Error(
    'No Chromium found. Install it (apt-get install chromium), or say where it is: CHROMIUM_PATH=/path/to/it'
  );
}

module.exports = { chromium };
