import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

/** The side panel of jupyter-memory. */
const plugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-memory:plugin',
  description: 'Searches what you wrote, ran or saved, and says why each result is there.',
  autoStart: true,
  activate: (_app: JupyterFrontEnd) => undefined
};

export default plugin;
