/** What facets and their values are called. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Facet } from './facets';

export function kindName(kind: string, trans: TranslationBundle): string {
  const known: Record<string, string> = {
    cell: trans.__('Cells'),
    note: trans.__('Notes'),
    file: trans.__('Files'),
    history: trans.__('History')
  };
  return Object.hasOwn(known, kind) ? known[kind] : kind;
}

export function tierName(tier: string, trans: TranslationBundle): string {
  const known: Record<string, string> = {
    core: trans.__('pinned'),
    file: trans.__('from files'),
    mcp: trans.__('by an agent'),
    note: trans.__('notes')
  };
  return Object.hasOwn(known, tier) ? known[tier] : tier;
}

export function facetName(facet: Facet, trans: TranslationBundle): string {
  const known: Record<Facet, string> = {
    kind: trans.__('Kind'),
    lang: trans.__('Language'),
    tier: trans.__('Tier'),
    tag: trans.__('Tag')
  };
  return known[facet];
}
