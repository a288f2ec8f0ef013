/** The memory's REST interface as a test uses it: to bring the store into a state, and to know what is true. */

import { type APIRequestContext, expect } from '@playwright/test';

import type { IAnswer, IExplanation, IItem, IJob, IRecent, IStatus } from '../../labextension/src/api/types';

/** The routes, but not the extension's own files, which Lab serves from a folder of the same name. */
export const REST = /^https?:\/\/[^/]+\/jupyter-memory\//;

export class Memory {
  constructor(private readonly request: APIRequestContext) {}

  async get<T>(route: string): Promise<T> {
    const response = await this.request.get(`jupyter-memory/${route}`);
    expect(response.ok(), `GET ${route}: ${response.status()}`).toBe(true);
    return response.json();
  }

  async post<T>(route: string, data: object): Promise<T> {
    const response = await this.request.post(`jupyter-memory/${route}`, { data });
    expect(response.ok(), `POST ${route}: ${response.status()} ${await response.text()}`).toBe(true);
    return response.json();
  }

  status(): Promise<IStatus> {
    return this.get('status');
  }

  search(query: string, more: object = {}): Promise<IAnswer> {
    return this.post('search', { query, ...more });
  }

  explain(query: string, memory_id: string, more: object = {}): Promise<IExplanation> {
    return this.post('explain', { query, memory_id, ...more });
  }

  item(memory_id: string): Promise<IItem> {
    return this.post('item', { memory_id });
  }

  async jobs(): Promise<IJob[]> {
    return (await this.get<{ jobs: IJob[] }>('jobs')).jobs;
  }

  add(text: string, more: object = {}): Promise<IItem> {
    return this.post('add', { text, ...more });
  }

  async recent(): Promise<IRecent[]> {
    return (await this.post<{ searches: IRecent[] }>('recent', {})).searches;
  }

  /** Index a folder of Lab's, and wait until that is over. */
  async index(path: string, watch = false): Promise<IJob> {
    const { job_id } = await this.post<IJob>('index', { path, watch });
    await this.rest();
    const job = (await this.jobs()).find(one => one.job_id === job_id);
    expect(job?.state, job?.summary).toBe('done');
    return job!;
  }

  /** Wait until nothing is being indexed any more. */
  async rest(): Promise<void> {
    const goingOn = async (): Promise<IJob[]> =>
      (await this.jobs()).filter(({ state }) => state === 'waiting' || state === 'running');
    await expect.poll(goingOn, { timeout: 90_000 }).toEqual([]);
  }

  /** The sample corpus and nothing else. */
  async samples(): Promise<void> {
    await this.empty();
    await this.index('samples');
  }

  /** Forget everything: folders, memories, recent searches. */
  async empty(): Promise<void> {
    if (!(await this.status()).store.exists) {
      return;
    }
    // Again where something changes at the same time: then the server refuses.
    await expect(async () => {
      for (const { path, memories } of (await this.status()).folders) {
        await this.post('folders', { path, remove: true, count: memories });
      }
      const { hits } = await this.post<IAnswer>('browse', { limit: 500 });
      if (hits.length) {
        await this.post('forget', { memory_ids: hits.map(hit => hit.memory_id) });
      }
      expect((await this.status()).store.memories).toBe(0);
    }).toPass({ timeout: 45_000 });
    await this.request.delete('jupyter-memory/recent');
  }
}
