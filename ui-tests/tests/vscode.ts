/**
 * A notebook's webview in VS Code: the script with which its Jupyter extension shows widgets, in a page that has VS Code's
 * content policy and styles and no way to the server; and the part of the extension, which runs cells and hands on messages.
 */

import { readFileSync } from 'fs';
import { join } from 'path';

import { KernelConnection, KernelMessage, ServerConnection } from '@jupyterlab/services';
import type { Page } from '@playwright/test';

export interface IOutput {
  id: string;
  data: Record<string, unknown>;
}

const ORIGIN = 'https://vscode-cdn.test';
const WIDGET = 'application/vnd.jupyter.widget-view+json';
const CLIENT = 'vscode-jupyter';

const packages = join(__dirname, '..', 'node_modules');
const files: Record<string, string> = {
  '/services.js': join(packages, '@jupyterlab/services/dist/dist/index.js'),
  '/require.js': join(packages, 'requirejs/require.js'),
  '/ipywidgets8.js': join(packages, '@vscode/jupyter-ipywidgets8/dist/ipywidgets.js'),
  '/webview.js': join(__dirname, '..', 'vscode', 'webview.js'),
  '/webview.css': join(__dirname, '..', 'vscode', 'webview.css')
};

// Of `notebook.experimental.enableCsp`, which is on unless somebody turns it off.
const POLICY = [
  "default-src 'none'",
  `script-src ${ORIGIN} 'unsafe-inline' 'unsafe-eval'`,
  `style-src ${ORIGIN} 'unsafe-inline'`,
  `img-src ${ORIGIN} https: http: data:`,
  `font-src ${ORIGIN} https:`,
  'connect-src https:',
  'child-src https: data:'
].join('; ');

const content = (theme: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Notebook</title>
    <meta http-equiv="Content-Security-Policy" content="${POLICY}">
    <link rel="stylesheet" href="webview.css">
  </head>
  <body class="${theme}">
    <main id="container" class="widgetarea"></main>
    <script src="services.js"></script>
    <script>var jupyterlabServices = window['@jupyterlab/services'];</script>
    <script src="require.js"></script>
    <script type="module" src="webview.js"></script>
  </body>
</html>`;

/** Functions of `vscode/webview.js`, and the way into its socket. */
interface IWebview {
  connect(model: object, clientId: string): Promise<void>;
  render(id: string, data: object, alive: boolean): void;
  fromKernel(data: string): void;
}

export class VSCode {
  readonly outputs: IOutput[] = [];
  /** What the page's policy forbade, and what went wrong in it. */
  readonly complaints: string[] = [];
  private kernel?: KernelConnection;
  /** The outputs of each display id, as `update_display_data` finds them again. */
  private readonly displays = new Map<string, string[]>();
  private readonly models = new Set<string>();
  private shown = Promise.resolve();

  constructor(readonly page: Page) {
    page.on('pageerror', error => this.complaints.push(error.message));
    page.on('console', said => {
      // The bundle itself brings an icon font that the policy forbids.
      if (/Content Security Policy/.test(said.text()) && !said.text().startsWith("Loading the font 'data:")) {
        this.complaints.push(said.text());
      }
    });
  }

  /** The classes of the page's body: `vscode-light` or `vscode-dark`, and `themed` for widgets in the theme's colours. */
  async theme(classes: string): Promise<void> {
    await this.page.locator('body').evaluate((body, names) => body.setAttribute('class', names), classes);
  }

  /** Open a notebook. */
  async open(theme: string): Promise<void> {
    await this.page.route(`${ORIGIN}/**`, (route, request) => {
      const { pathname } = new URL(request.url());
      if (pathname === '/') {
        return route.fulfill({ contentType: 'text/html', body: content(theme) });
      }
      const contentType = pathname.endsWith('.css') ? 'text/css' : 'text/javascript';
      return route.fulfill({ contentType, body: readFileSync(files[pathname]) });
    });
    await this.page.goto(`${ORIGIN}/`);
    await this.page.waitForFunction(() => 'render' in window);
  }

  /** Start a kernel of the server and give the webview its way there. */
  async start(server: string): Promise<void> {
    const serverSettings = ServerConnection.makeSettings({ baseUrl: server, wsUrl: server.replace('http', 'ws') });
    const started = await this.page.request.post(`${server}api/kernels`, { data: { name: 'python3' } });
    const model = await started.json();
    this.kernel = new KernelConnection({ serverSettings, model, clientId: CLIENT, handleComms: false });
    this.kernel.anyMessage.connect((_, { msg, direction }) => direction === 'recv' && this.mirror(msg));
    await this.page.exposeFunction('toKernel', (data: string) => {
      this.kernel?.sendShellMessage(JSON.parse(data), false, true);
    });
    await this.kernel.info;
    await this.page.evaluate(
      ([of, client]) => (window as unknown as IWebview).connect(of as object, client as string),
      [model, CLIENT]
    );
  }

  /** Run a cell, and return once its outputs are shown. */
  async run(code: string): Promise<void> {
    const future = this.kernel!.requestExecute({ code });
    future.onIOPub = message => {
      if (KernelMessage.isDisplayDataMsg(message) || KernelMessage.isExecuteResultMsg(message)) {
        const id = `output-${this.outputs.length}`;
        const display = message.content.transient?.display_id;
        if (display) {
          this.displays.set(display, [...(this.displays.get(display) ?? []), id]);
        }
        this.outputs.push({ id, data: message.content.data });
        this.show(id);
      }
    };
    const { content } = await future.done;
    if (content.status !== 'ok') {
      throw new Error(content.status === 'error' ? `${content.ename}: ${content.evalue}` : content.status);
    }
    await this.shown;
  }

  /** Show outputs that were saved with the notebook. */
  async restore(outputs: IOutput[]): Promise<void> {
    this.outputs.push(...outputs);
    outputs.forEach(({ id }) => this.show(id));
    await this.shown;
  }

  async stop(): Promise<void> {
    const kernel = this.kernel;
    this.kernel = undefined;
    await kernel?.shutdown();
  }

  /** Hand a message on to the webview, in order. */
  private mirror(message: KernelMessage.IMessage): void {
    if (KernelMessage.isCommOpenMsg(message)) {
      this.models.add(message.content.comm_id);
    }
    if (KernelMessage.isUpdateDisplayDataMsg(message)) {
      const { data, transient } = message.content;
      for (const id of this.displays.get(transient.display_id!) ?? []) {
        this.outputs.find(one => one.id === id)!.data = data;
        this.show(id);
      }
    }
    this.soon(() =>
      this.page.evaluate(data => (window as unknown as IWebview).fromKernel?.(data), JSON.stringify(message))
    );
  }

  private show(id: string): void {
    const { data } = this.outputs.find(one => one.id === id)!;
    const model = (data[WIDGET] as { model_id: string } | undefined)?.model_id;
    this.soon(() =>
      this.page.evaluate(
        ([place, bundle, alive]) =>
          (window as unknown as IWebview).render(place as string, bundle as object, alive as boolean),
        [id, data, !!model && this.models.has(model)]
      )
    );
  }

  private soon(act: () => Promise<void>): void {
    this.shown = this.shown.then(act).catch(error => {
      this.complaints.push(String(error));
    });
  }
}
