// The webview's side of VS Code's Jupyter extension: outputs, and widgets whose kernel is reached by messages alone.
/* global jupyterlabServices, toKernel */
const WIDGET = 'application/vnd.jupyter.widget-view+json';
const container = document.getElementById('container');
let manager;

/** Make the widget manager of the real bundle, on a kernel connection whose socket ends at the extension. */
async function connect(model, clientId) {
  const { KernelConnection, ServerConnection } = jupyterlabServices;
  class Socket {
    readyState = 1;
    protocol = '';
    constructor() {
      window.fromKernel = data => this.onmessage({ data, target: this, type: '' });
      setTimeout(() => this.onopen({ target: this, type: 'open' }));
    }
    send(data) {
      toKernel(data);
    }
    close() {}
  }
  const serverSettings = ServerConnection.makeSettings({ WebSocket: Socket, wsUrl: 'none' });
  const kernel = new KernelConnection({ serverSettings, model, clientId, handleComms: true });
  const { activate } = await import('./ipywidgets8.js');
  activate();
  window.vscIPyWidgets8.load();
  const never = name => Promise.reject(new Error(`A script would have to be fetched: ${name}`));
  const scripts = {
    widgetsRegisteredInRequireJs: new Set(),
    loadWidgetScript: never,
    errorHandler() {},
    successHandler() {}
  };
  manager = new window.vscIPyWidgets.WidgetManager(kernel, container, scripts, () => undefined);
  await kernel.info;
}

/** Show an output in its place: a widget whose model lives, else HTML, else plain text. */
function render(id, data, alive) {
  const outer = document.getElementById(id) ?? container.appendChild(document.createElement('div'));
  outer.id = id;
  outer.className = 'output_container';
  const output = document.createElement('div');
  output.className = 'output';
  outer.replaceChildren(output);
  if (data[WIDGET] && alive) {
    void renderWidget(data[WIDGET], output);
  } else if (data['text/html']) {
    output.appendChild(document.createElement('div')).innerHTML = [data['text/html']].flat().join('');
  } else {
    output.appendChild(document.createElement('pre')).textContent = [data['text/plain']].flat().join('');
  }
}

async function renderWidget(data, output) {
  const ground = output.appendChild(document.createElement('div'));
  ground.className = 'cell-output-ipywidget-background';
  // Messages are handled in turn: the one that makes the model may still be waiting for its own.
  while (!manager.has_model(data.model_id)) {
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  const model = await manager.get_model(data.model_id);
  const view = await manager.create_view(model, { el: ground });
  await manager.display_view(data, view, { node: ground });
}

Object.assign(window, { connect, render });
