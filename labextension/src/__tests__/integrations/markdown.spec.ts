import { Sanitizer } from '@jupyterlab/apputils';
import { RenderMimeRegistry, standardRendererFactories } from '@jupyterlab/rendermime';

import { markdownRenderer, offline } from '../../integrations/actions';

describe('what a memory may show', () => {
  const sanitizer = offline(new Sanitizer());
  const shown = (html: string): string => sanitizer.sanitize(html);

  it('keeps text, tables and links to pages', () => {
    expect(shown('<h2>λ</h2><table><tbody><tr><td><b>1</b></td></tr></tbody></table>')).toContain('<td><b>1</b></td>');
    expect(shown('<a href="https://example.org/a">a</a>')).toContain('href="https://example.org/a"');
  });

  it('runs no script', () => {
    expect(shown('a<script>alert(1)</script><p onclick="alert(1)">b</p>')).not.toMatch(/script|alert/);
  });

  it.each([
    '<img src="https://example.org/pixel.png" alt="a plot">',
    '<video src="https://example.org/a.mp4"></video>',
    '<audio src="https://example.org/a.mp3"></audio>',
    '<p style="background: url(https://example.org/b.png)">c</p>',
    '<link rel="stylesheet" href="https://example.org/c.css">'
  ])('opens no connection for %s', html => {
    expect(shown(html)).not.toContain('example.org');
  });

  it('shows what a picture is called, and leads nowhere within the page', () => {
    expect(shown('<img src="a.png" alt="a plot">')).toBe('a plot');
    expect(shown('<a href="other.ipynb">b</a><a href="#c">c</a>')).not.toContain('href');
  });
});

it('renders with what Lab has registered', async () => {
  const registry = new RenderMimeRegistry({
    initialFactories: standardRendererFactories,
    sanitizer: new Sanitizer(),
    markdownParser: { render: async text => `<p>${text}</p><img src="https://example.org/p.png" alt="plot">` }
  });

  const { node, typeset, dispose } = await markdownRenderer(registry)('*k*-means');

  typeset();
  expect(node.textContent).toBe('*k*-meansplot');
  expect(node.className).toContain('jp-RenderedMarkdown');
  dispose();
});
