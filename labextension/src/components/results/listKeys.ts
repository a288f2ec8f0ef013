/** What the keys do in the list of results. */

export type Move = 'next' | 'previous' | 'first' | 'last';

export type Intent =
  | { do: 'move'; to: Move }
  | { do: 'fold'; open: boolean }
  | { do: 'turn' }
  | { do: 'open'; toSide: boolean }
  | { do: 'insert' | 'copy' | 'forget' | 'leave' };

type Key = Pick<KeyboardEvent, 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey'>;

/** The intent of a key, or null if the list does not use it. Right-to-left layouts swap the keys that fold. */
export function intent(event: Key, isMirrored = false): Intent | null {
  const accel = event.ctrlKey || event.metaKey;
  if (event.altKey) {
    return null;
  }
  if (event.key === 'Enter') {
    return accel ? { do: 'insert' } : { do: 'open', toSide: event.shiftKey };
  }
  const intended = accel ? null : (PLAIN[event.key] ?? null);
  return intended?.do === 'fold' && isMirrored ? { do: 'fold', open: !intended.open } : intended;
}

const PLAIN: Record<string, Intent> = {
  ArrowDown: { do: 'move', to: 'next' },
  ArrowUp: { do: 'move', to: 'previous' },
  Home: { do: 'move', to: 'first' },
  End: { do: 'move', to: 'last' },
  ArrowRight: { do: 'fold', open: true },
  ArrowLeft: { do: 'fold', open: false },
  c: { do: 'copy' },
  C: { do: 'copy' },
  ' ': { do: 'turn' },
  Delete: { do: 'forget' },
  Escape: { do: 'leave' }
};
