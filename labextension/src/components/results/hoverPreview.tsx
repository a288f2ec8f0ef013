/** The preview of the hit on which the mouse has come to rest, beside the panel. */

import { type CSSProperties, type PointerEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';

import type { IPlacedHit } from '../../models/hits';
import type { SearchModel } from '../../models/searchModel';
import type { IActions } from '../../tokens';
import type { IProps } from '../shared/elements';
import { Peek } from './wholeText';

/** Milliseconds of rest until it is shown, and until it changes or goes: the mouse may be on its way into it. */
const CALM = 600;
const GOING = 250;

/** Pixels: narrower than `LEAST` it would help nobody. */
const LEAST = 240;
const MOST = 520;
const GAP = 4;

interface IShown {
  option: string;
  style: CSSProperties;
}

/** What is shown, and the handlers for the element around the hits, of which the preview is a part. */
export function useHoverPreview(isOn: boolean) {
  const [shown, show] = useState<IShown | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  // A hit that is clicked or dragged was read already.
  const pressed = useRef<Element | null>(null);
  const turn = (to: Element | null, delay: number): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => show(to && { option: to.id, style: beside(to) }), delay);
  };
  const partAt = (target: EventTarget): Element | null =>
    (target as Element).closest('[role="option"], .jp-Memory-beside');
  const hide = ({ target }: { target: EventTarget }): void => {
    if (!partAt(target)?.matches('.jp-Memory-beside')) {
      pressed.current = partAt(target);
      turn(null, 0);
    }
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => (event.key === 'Escape' ? turn(null, 0) : undefined);
    document.addEventListener('keydown', onKey, true);
    return () => {
      document.removeEventListener('keydown', onKey, true);
      clearTimeout(timer.current);
    };
  }, []);
  const on = {
    onPointerOver: ({ target, pointerType, buttons }: PointerEvent) => {
      const part = partAt(target);
      if (part && part === pressed.current) {
        return;
      }
      pressed.current = null;
      if (part?.matches('.jp-Memory-beside') || (shown && part?.id === shown.option)) {
        clearTimeout(timer.current);
      } else {
        turn(pointerType === 'mouse' && !buttons ? part : null, shown ? GOING : CALM);
      }
    },
    onPointerLeave: () => turn(null, GOING),
    onPointerDown: hide,
    onWheel: hide
  };
  return isOn ? { shown, on } : { shown: null, on: {} };
}

/** Where the page has more room, at the height of a hit. */
function beside(option: Element): CSSProperties {
  const { left, right, top, bottom } = option.getBoundingClientRect();
  const isRight = window.innerWidth - right > left;
  const room = (isRight ? window.innerWidth - right : left) - 2 * GAP;
  const isLow = top + bottom > window.innerHeight;
  return {
    display: room < LEAST ? 'none' : undefined,
    width: Math.min(room, MOST),
    maxHeight: isLow ? bottom - GAP : window.innerHeight - top - GAP,
    [isRight ? 'left' : 'right']: (isRight ? right : window.innerWidth - left) + GAP,
    [isLow ? 'bottom' : 'top']: isLow ? window.innerHeight - bottom : top
  };
}

interface IHoverPreviewProps extends IProps<SearchModel> {
  found: IPlacedHit;
  style: CSSProperties;
  actions: IActions;
  onLeave(): void;
}

export function HoverPreview({ style, ...props }: IHoverPreviewProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    // Above everything: the panel cuts off what is larger than it.
    box.current!.popover = 'manual';
    box.current!.showPopover?.();
  }, []);
  return (
    <div ref={box} className="jp-Memory-results jp-Memory-peek jp-Memory-beside" style={style}>
      <Peek {...props} />
    </div>
  );
}
