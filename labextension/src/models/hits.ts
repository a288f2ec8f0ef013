/** The hits of an answer, each with its place. */

import type { IAnswer, IHit, IPlace } from '../api/types';

/** A hit with its place. */
export interface IPlacedHit {
  hit: IHit;
  place: IPlace;
}

/** The hits that are not hidden, best first. */
export function visibleHits(answer: IAnswer | null, isHidden: (id: string) => boolean): IPlacedHit[] {
  return (answer?.hits ?? [])
    .map((hit, i) => ({ hit, place: answer!.places[i] }))
    .filter(one => !isHidden(one.hit.memory_id));
}

/** The hit of a memory, if the answer has it. */
export function hitIn(answer: IAnswer | null, id: string): IPlacedHit | undefined {
  return visibleHits(answer, other => other !== id)[0];
}

/** The answer with one of its hits changed; the same answer if it has no such hit. */
export function patched(
  answer: IAnswer | null,
  id: string,
  hit: Partial<IHit>,
  place: Partial<IPlace>
): IAnswer | null {
  const at = answer?.hits.findIndex(one => one.memory_id === id) ?? -1;
  if (!answer || at < 0) {
    return answer;
  }
  return {
    ...answer,
    hits: answer.hits.map((one, i) => (i === at ? { ...one, ...hit } : one)),
    places: answer.places.map((one, i) => (i === at ? { ...one, ...place } : one))
  };
}

/** Id of the hit after this one, or before it if it is the last. */
export function neighbour(hits: readonly IPlacedHit[], id: string): string | null {
  const at = hits.findIndex(one => one.hit.memory_id === id);
  return (hits[at + 1] ?? hits[at - 1])?.hit.memory_id ?? null;
}
