/** How a question was read, as a person is told: by its words, by its meaning, or by both. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { QueryClass } from './types';

export function classTitle(kind: QueryClass, trans: TranslationBundle): string {
  return { keyword: trans.__('keyword'), balanced: trans.__('balanced'), semantic: trans.__('semantic') }[kind];
}

export function classMeaning(kind: QueryClass, trans: TranslationBundle): string {
  return {
    keyword: trans.__('Names, code or quotes: the words count most'),
    balanced: trans.__('A few words: words and meaning count alike'),
    semantic: trans.__('A sentence: the meaning counts most')
  }[kind];
}
