// Pictures of every state of the panel, light and dark, for people to look at: `jlpm shots`; SHOTS says where to.
const config = require('./playwright.config');

module.exports = { ...config, testDir: 'shots', testMatch: '**/*.shots.ts', reporter: [['list']], retries: 0 };
