import plugin from '../index';

describe('the plugin', () => {
  it('starts by itself under the name that its settings have', () => {
    expect(plugin.autoStart).toBe(true);
    expect(plugin.id).toBe('jupyter-memory:plugin');
  });
});
