import jupyter from '@jupyter/eslint-plugin';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['node_modules', 'lib', 'jupyter_memory', '.venv*', 'site', '**/*.js', '**/*.mjs', 'ui-tests/node_modules', 'tests', 'benchmarks'] },
  ...tseslint.configs.recommended,
  { plugins: { jupyter } },
  ...jupyter.configs.recommended,
  // The panel is in the side bar from the start, so nothing can be loaded later.
  { rules: { 'jupyter/prefer-lazy-imports': 'off' } },
  { files: ['**/__tests__/**', 'ui-tests/**'], rules: { 'jupyter/no-untranslated-string': 'off' } },
  // The servers of the browser tests are CommonJS, as Playwright's configuration is.
  { files: ['ui-tests/**'], rules: { '@typescript-eslint/no-require-imports': 'off' } },
  {
    files: ['labextension/src/**/*.{ts,tsx}', 'ui-tests/**/*.ts'],
    rules: {
      'no-console': 'error',
      eqeqeq: 'error',
      curly: 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-expressions': ['error', { allowTernary: true }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'none' }
      ]
    }
  },
  prettier
);
