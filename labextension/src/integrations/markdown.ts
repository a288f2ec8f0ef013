/** Renders the Markdown of memories with Lab's own renderer: sanitised, and without anything that the browser would fetch. */

import { type IRenderMimeRegistry, MimeModel } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';

import type { IRendered } from '../tokens';

const MARKDOWN = 'text/markdown';

/** Elements that load what they name. A picture is replaced by its description. */
const LOADING = 'audio, embed, iframe, image, img, input, link, object, picture, source, svg, track, video';

/** A function that renders Markdown. */
export function markdownRenderer(registry: IRenderMimeRegistry): (text: string) => Promise<IRendered> {
  const own = registry.clone({ sanitizer: offline(registry.sanitizer), resolver: undefined, linkHandler: undefined });
  return async text => {
    const renderer = own.createRenderer(MARKDOWN);
    await renderer.renderModel(new MimeModel({ trusted: false, data: { [MARKDOWN]: text } }));
    return {
      node: renderer.node,
      typeset: () => own.latexTypesetter?.typeset(renderer.node),
      dispose: () => renderer.dispose()
    };
  };
}

/** A sanitizer that also takes out what would open a connection, and links that lead into the page itself. */
export function offline(sanitizer: IRenderMime.ISanitizer): IRenderMime.ISanitizer {
  return {
    ...sanitizer,
    sanitize: (dirty, options) => {
      // A parsed document is inert: nothing of it is loaded.
      const page = new DOMParser().parseFromString(sanitizer.sanitize(dirty, options), 'text/html');
      for (const element of page.querySelectorAll(LOADING)) {
        element.replaceWith(element.getAttribute('alt') ?? '');
      }
      for (const element of page.querySelectorAll('[style*="url" i], [background], [srcset]')) {
        ['style', 'background', 'srcset'].forEach(name => element.removeAttribute(name));
      }
      for (const link of page.querySelectorAll('a[href]')) {
        if (!/^(https?:|mailto:)/i.test(link.getAttribute('href')!)) {
          link.removeAttribute('href');
        }
      }
      return page.body.innerHTML;
    }
  };
}
