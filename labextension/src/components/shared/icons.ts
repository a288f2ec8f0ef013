/** The panel's own icons, in the colours of the theme. */

import { LabIcon } from '@jupyterlab/ui-components';

function icon(name: string, path: string): LabIcon {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24"><path class="jp-icon3" fill="#616161" d="${path}"/></svg>`;
  return new LabIcon({ name: `jupyter-memory:${name}`, svgstr: svg });
}

export const memoryIcon = icon(
  'memory',
  'M3 3h14v5h-2V5H5v14h4v2H3zM7 7h6v2H7zM7 11h3v2H7zM15 10a5 5 0 0 1 4.1 7.9l3.3 3.3-1.4 1.4-3.3-3.3A5 5 0 1 1 15 10zm0 2a3 3 0 1 0 0 6 3 3 0 0 0 0-6z'
);

export const pinIcon = icon('pin', 'M8 2h8v2h-1v6l4 4v2h-6v6h-2v-6H5v-2l4-4V4H8z');

export const usefulIcon = icon('useful', 'M2 10h4v11H2zM8 10l4-8a3 3 0 0 1 3 3v4h6l-2 12H8z');

export const firstIcon = icon('first', 'M4 2h16v3H4zM12 7l8 8h-5v7H9v-7H4z');

export const uselessIcon = icon('useless', 'M2 3h4v11H2zM8 14l4 8a3 3 0 0 0 3-3v-4h6L19 3H8z');

export const relatedIcon = icon(
  'related',
  'M3 8c3-4 6-4 9-1s6 3 9-1v3.5c-3 4-6 4-9 1s-6-3-9 1zM3 16c3-4 6-4 9-1s6 3 9-1v3.5c-3 4-6 4-9 1s-6-3-9 1z'
);

export const tagsIcon = icon('tags', 'M3 3h9l10 10-9 9L3 12zm4.5 2.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4z');
