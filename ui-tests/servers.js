// The servers that the tests start: where they listen, what they may write to.
const { spawn } = require('child_process');
const { cpSync, existsSync, mkdtempSync, rmSync } = require('fs');
const { tmpdir } = require('os');
const { delimiter, join } = require('path');

const { writePack } = require('./language_pack');

// Workers load this file again: they must find the same folder.
process.env.UI_SCRATCH ??= mkdtempSync(join(tmpdir(), 'jupyter-memory-ui-'));
process.env.UI_PORT ??= '8893';
process.env.UI_TOKEN_PORT ??= String(Number(process.env.UI_PORT) + 1);
process.env.UI_RESTART_PORT ??= String(Number(process.env.UI_PORT) + 2);

const scratch = process.env.UI_SCRATCH;
const token = 'a-token-for-tests';

const ownJupyter = join(__dirname, '..', '.venv', 'bin', 'jupyter');
const jupyter = process.env.UI_JUPYTER ?? (existsSync(ownJupyter) ? ownJupyter : 'jupyter');

/** What a server and its kernels see: nothing of the user's own settings, history or memory. */
function environment(name) {
  const folder = join(scratch, name);
  return {
    JUPYTER_CONFIG_DIR: join(folder, 'config'),
    JUPYTER_DATA_DIR: join(folder, 'data'),
    JUPYTER_RUNTIME_DIR: join(folder, 'runtime'),
    JUPYTERLAB_SETTINGS_DIR: join(folder, 'settings'),
    JUPYTERLAB_WORKSPACES_DIR: join(folder, 'workspaces'),
    IPYTHONDIR: join(folder, 'ipython'),
    // No test reaches the network: pip asks an index where nobody listens.
    PIP_INDEX_URL: 'http://127.0.0.1:9/simple',
    PIP_RETRIES: '0',
    JUPYTER_MEMORY_PATH: join(folder, 'memory.sqlite')
  };
}

const pack = writePack(join(scratch, 'language-pack'));

const open = {
  command: `"${jupyter}" lab --config jupyter_server_test_config.py`,
  url: `http://localhost:${process.env.UI_PORT}/lab`,
  env: { ...environment('open'), PYTHONPATH: [pack, process.env.PYTHONPATH].filter(Boolean).join(delimiter) },
  timeout: 120_000,
  reuseExistingServer: false
};

// As a user has it: a token, XSRF checks, no test helpers.
const guarded = {
  command:
    `"${jupyter}" lab --no-browser --allow-root --port ${process.env.UI_TOKEN_PORT} --ServerApp.port_retries=0 --log-level=ERROR ` +
    `--IdentityProvider.token=${token} --ServerApp.root_dir="${join(scratch, 'root')}"`,
  url: `http://localhost:${process.env.UI_TOKEN_PORT}/api`,
  env: environment('guarded'),
  timeout: 120_000,
  reuseExistingServer: false
};

/** A server that a test kills and starts again: it keeps its store and its files. */
class Restarted {
  url = `http://localhost:${process.env.UI_RESTART_PORT}`;
  root = join(scratch, 'restarted-root');

  /** Start it, and wait until it answers. */
  async start() {
    cpSync(join(__dirname, '..', 'notebooks', 'samples'), join(this.root, 'samples'), { recursive: true });
    const options = [
      ['--no-browser', '--allow-root', '--log-level=CRITICAL', `--port=${process.env.UI_RESTART_PORT}`],
      ['--ServerApp.port_retries=0', `--ServerApp.root_dir=${this.root}`],
      ['--IdentityProvider.token=', '--ServerApp.disable_check_xsrf=True']
    ];
    const env = { ...process.env, ...environment('restarted') };
    // A group of its own: a kill takes the helpers of an indexing along.
    this._process = spawn(jupyter, ['lab', ...options.flat()], {
      cwd: this.root,
      env,
      stdio: 'ignore',
      detached: true
    });
    this._ended = new Promise(resolve => this._process.once('exit', resolve));
    process.once('exit', this._stop);
    const until = Date.now() + 120_000;
    while (!(await answers(`${this.url}/api`))) {
      if (this._process.exitCode !== null || Date.now() > until) {
        throw new Error(`No server came up at ${this.url}: choose another port with UI_RESTART_PORT.`);
      }
      await new Promise(resolve => setTimeout(resolve, 200));
    }
  }

  /** End it at once, in the middle of whatever it does. */
  async kill() {
    this._stop();
    process.removeListener('exit', this._stop);
    await this._ended;
  }

  /** Take its store away, while it is not running. */
  clear() {
    rmSync(join(scratch, 'restarted'), { recursive: true, force: true });
  }

  _stop = () => {
    try {
      process.kill(-this._process.pid, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  };
}

async function answers(url) {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

module.exports = { jupyter, open, guarded, Restarted, scratch, token };
