// A language pack for the tests, installed as any other: each sentence of the panel stands in it between ⟦ and ⟧.
const { mkdirSync, readdirSync, readFileSync, writeFileSync } = require('fs');
const { join } = require('path');

const LOCALE = 'eo';
const SOURCES = join(__dirname, '..', 'labextension', 'src');
const TEXT = String.raw`('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")`;
const ONE = new RegExp(String.raw`\.__\(\s*${TEXT}`, 'g');
const TWO = new RegExp(String.raw`\._n\(\s*${TEXT},\s*${TEXT}`, 'g');

const marked = text => `⟦${text}⟧`;
const literal = code =>
  JSON.parse(
    `"${code
      .slice(1, -1)
      .replace(/\\'/g, "'")
      .replace(/(?<!\\)"/g, '\\"')}"`
  );

function messages() {
  const found = {};
  const names = readdirSync(SOURCES, { encoding: 'utf8', recursive: true });
  for (const name of names.filter(name => /\.tsx?$/.test(name) && !name.startsWith('__tests__'))) {
    const source = readFileSync(join(SOURCES, name), 'utf8');
    for (const [, text] of source.matchAll(ONE)) {
      found[literal(text)] = [marked(literal(text))];
    }
    for (const [, one, many] of source.matchAll(TWO)) {
      found[literal(one)] = [marked(literal(one)), marked(literal(many))];
    }
  }
  return found;
}

/** Write the pack below a folder, which then is a place for Python to import from. */
function writePack(folder) {
  const pack = join(folder, 'jupyterlab_language_pack_eo');
  const [texts, installed] = [join(pack, 'locale', LOCALE, 'LC_MESSAGES'), `${pack}-1.0.dist-info`];
  mkdirSync(texts, { recursive: true });
  mkdirSync(installed, { recursive: true });
  const head = {
    domain: 'jupyter_memory',
    language: LOCALE,
    plural_forms: 'nplurals=2; plural=(n != 1);',
    version: '1.0'
  };
  writeFileSync(join(pack, '__init__.py'), '');
  writeFileSync(join(texts, 'jupyter_memory.json'), JSON.stringify({ '': head, ...messages() }));
  writeFileSync(
    join(installed, 'METADATA'),
    'Metadata-Version: 2.1\nName: jupyterlab-language-pack-eo\nVersion: 1.0\n'
  );
  writeFileSync(
    join(installed, 'entry_points.txt'),
    `[jupyterlab.languagepack]\n${LOCALE} = jupyterlab_language_pack_eo\n`
  );
  return folder;
}

module.exports = { LOCALE, writePack };
