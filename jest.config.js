// Logic and components run in jsdom; tests that need JupyterLab itself are in ui-tests/.
const base = require('@jupyterlab/testutils/lib/jest-config')(__dirname);

// ES modules that Node cannot read as they are.
const esModules = [
  '@codemirror', '@jupyter', '@jupyterlab', '@microsoft', '@rjsf', 'exenv-es6', 'lib0', 'lodash-es', 'marked', 'nanoid',
  'vscode-ws-jsonrpc', 'y-protocols', 'y-websocket', 'yjs'
].join('|');

module.exports = {
  ...base,
  automock: false,
  collectCoverage: false,
  coverageReporters: ['text'],
  reporters: ['default'],
  testTimeout: 120_000, // of a slow machine
  roots: ['<rootDir>/labextension/src'],
  testRegex: 'labextension/src/.*/.*\\.spec\\.tsx?$',
  transform: {
    ...base.transform,
    // Types are checked by tsc, once.
    '^.+\\.tsx?$': ['ts-jest', { tsconfig: 'tsconfig.test.json', diagnostics: false }]
  },
  transformIgnorePatterns: [`/node_modules/(?!${esModules}).+`]
};
