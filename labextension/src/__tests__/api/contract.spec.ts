/** The golden answers of the server's own tests fit the schemas, and what the panel makes of them. */

import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { existsSync, readdirSync, readFileSync } from 'fs';
import { join } from 'path';

import type { IAnswer, ISearch } from '../../api/types';
import { pieces } from '../../components/shared/text';
import { SearchModel } from '../../models/searchModel';
import { Server } from '../helpers/server';

const ROOT = join(__dirname, '../../../..');
const SCHEMAS = join(ROOT, 'jupyter_memory/server/schemas');
const GOLDEN = join(ROOT, 'tests/golden/rest');

const read = (path: string): any => JSON.parse(readFileSync(path, 'utf-8')); // eslint-disable-line @typescript-eslint/no-explicit-any
const names = existsSync(GOLDEN) ? readdirSync(GOLDEN).filter(name => name.endsWith('.json')) : [];
const answers = names.filter(name => name.startsWith('answer.'));

const ajv = new Ajv({ allErrors: true, strict: false });
addFormats(ajv);
['requests.json', 'answers.json'].forEach(name => ajv.addSchema(read(join(SCHEMAS, name))));

function misfits(schema: string, value: unknown): unknown {
  const file = schema.endsWith('-request') ? 'requests.json' : 'answers.json';
  const fits = ajv.getSchema(`https://jupyter-memory.readthedocs.io/schemas/${file}#/definitions/${schema}`);
  return !fits ? `there is no schema ${schema}` : fits(value) ? null : fits.errors;
}

describe('the contract', () => {
  it.each(names)('%s fits its schema', name => {
    expect(misfits(name.split('.')[0], read(join(GOLDEN, name)))).toBeNull();
  });

  it.each(answers)('%s has a place for each hit, and a signal for each term', name => {
    const answer: IAnswer = read(join(GOLDEN, name));
    expect(answer.places).toHaveLength(answer.hits.length);
    for (const hit of answer.hits.filter(one => one.score !== null)) {
      expect(Object.keys(hit.signals)).toEqual(answer.terms);
    }
  });

  it.each(answers)('%s marks whole words of its snippets', name => {
    const answer: IAnswer = read(join(GOLDEN, name));
    for (const hit of answer.hits) {
      const marked = pieces(hit.snippet, hit.highlights).filter(piece => piece.marked);
      expect(marked.filter(piece => /^\s|\s$/u.test(piece.text))).toEqual([]);
    }
  });

  it('holds what the model asks', async () => {
    const server = new Server();
    const model = new SearchModel({ api: server.api });
    model.answers.setQuery('λ in Zürich');
    model.answers.narrow({ filters: { kind: ['cell'], path: ['notes/'] } });
    model.answers.narrow({ since: '2026-10-01' });
    model.answers.narrow({ asOf: '2026-11-15', aboutTags: ['λ'] });
    model.answers.narrow({ profile: 'trovella' });
    model.answers.lists = true;
    await model.answers.search({ now: true });
    await model.edits.pin('aa01', true);
    await model.edits.tag('aa01', ['pricing']);
    await model.edits.accept('aa01', true);
    await model.related('aa01');
    model.forget('aa01');
    model.dispose();
    await server.api.index('', true);
    const asked = server.asked.filter(one => one.method === 'POST');
    expect(new Set(asked.map(one => one.route))).toEqual(
      new Set(['search', 'pin', 'update', 'feedback', 'related', 'forget', 'index'])
    );
    for (const { route, body } of asked) {
      expect([route, misfits(`${route}-request`, body)]).toEqual([route, null]);
    }
    expect((asked[0].body as ISearch).query).toBe('λ in Zürich');
  });
});
