/** The actions for a hit: a row below the selected card, icons over the one under the mouse; icons alone in the dense list. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { addBelowIcon, copyIcon, deleteIcon, ellipsesIcon, launchIcon, refreshIcon } from '@jupyterlab/ui-components';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';

import type { IPlacedHit } from '../../models/hits';
import { hitNames } from '../shared/labels';
import { Action, type IAction } from '../shared/elements';
import { firstIcon, pinIcon, relatedIcon, tagsIcon, usefulIcon, uselessIcon } from '../shared/icons';
import type { IHitListProps, Row } from './hitList';

interface IHitActionsProps extends IHitListProps {
  one: Row;
}

export function HitActions(props: IHitActionsProps & { below: number }): JSX.Element {
  const { one, model, trans } = props;
  const { hit, place } = one.found;
  const { dense, tagging } = model.selection;
  const id = hit.memory_id;
  const isTagging = tagging === id;
  const [open, insert, copy, related, pin, forget] = common(props);
  const accepted = model.edits.accepted(id);
  const icons: IAction[] = [
    pin,
    {
      label: trans.__('Tag'),
      icon: tagsIcon,
      pressed: isTagging,
      run: () => model.selection.set({ tagging: isTagging ? null : id })
    },
    forget,
    {
      label: trans.__('Useful'),
      icon: usefulIcon,
      title: trans.__('This is what I looked for'),
      pressed: accepted === true,
      run: () => void model.edits.accept(id, true)
    },
    {
      label: trans.__('Should have been first'),
      icon: firstIcon,
      title: trans.__('This is what I looked for, and it should have been the first result'),
      pressed: accepted === 'first',
      run: () => void model.edits.accept(id, 'first')
    },
    {
      label: trans.__('Not useful'),
      icon: uselessIcon,
      title: trans.__('This is not what I looked for'),
      pressed: accepted === false,
      run: () => void model.edits.accept(id, false)
    }
  ];
  const again: IAction = {
    label: trans.__('Index again'),
    icon: refreshIcon,
    run: () => place.path !== null && props.onIndex(place.path)
  };
  const group = {
    role: 'group',
    'aria-label': trans.__('Actions for %1', hitNames(hit, place, trans).title),
    onKeyDown: (event: KeyboardEvent) => event.key === 'Escape' && props.onLeave()
  };
  const editor = isTagging && (
    <TagEditor
      tags={hit.tags}
      trans={trans}
      onDone={tags => {
        model.selection.set({ tagging: null });
        if (tags) {
          void model.edits.tag(id, tags);
        }
        props.onLeave();
      }}
    />
  );
  if (dense) {
    return (
      <>
        <div className={`${hover(one)} jp-mod-selected`} style={{ gridRow: one.row }} {...group}>
          <Icons {...props} />
        </div>
        {editor && (
          <div className="jp-Memory-actions" style={{ gridRow: props.below }}>
            {editor}
          </div>
        )}
      </>
    );
  }
  return (
    <div className="jp-Memory-actions" style={{ gridRow: props.below }} {...group}>
      <div className="jp-Memory-actionRow">
        {[open, insert, copy, related, ...(place.changed ? [again] : [])].map(one => (
          <Action key={one.label} {...one} />
        ))}
        <span className="jp-Memory-signs">
          {icons.map(one => (
            <Action key={one.label} {...one} iconOnly />
          ))}
        </span>
      </div>
      {editor}
    </div>
  );
}

/** The icons over the hit under the mouse. The selected one has the same actions, so the keyboard skips them. */
export function HoverActions(props: IHitActionsProps): JSX.Element {
  return (
    <div className={hover(props.one)} aria-hidden="true" style={{ gridRow: props.one.row }}>
      <Icons {...props} skipsTab />
    </div>
  );
}

/** The row of a member has one line above the excerpt instead of two. */
function hover({ isMember }: Row): string {
  return isMember ? 'jp-Memory-hover jp-mod-member' : 'jp-Memory-hover';
}

function Icons(props: IHitActionsProps & { skipsTab?: boolean }): JSX.Element {
  const { one, trans, model, skipsTab } = props;
  const menu: IAction = {
    label: trans.__('More actions'),
    icon: ellipsesIcon,
    run: () => openMenu(optionId(one.found))
  };
  // The dense list has no room for the last: they are in the menu.
  const shown = model.selection.dense ? [...common(props).slice(0, -1), menu] : common(props);
  return (
    <>
      {shown.map(one => (
        <Action key={one.label} {...one} iconOnly skipsTab={skipsTab} />
      ))}
    </>
  );
}

export const OPTION = 'jp-Memory-hit-';

/** Id of the element of a hit; its context menu has all the actions. */
export function optionId({ hit }: IPlacedHit): string {
  return OPTION + hit.memory_id;
}

/** Open the context menu of an element as a right click does. */
export function openMenu(id: string): void {
  const element = document.getElementById(id)!;
  const { right, top } = element.getBoundingClientRect();
  const at = { clientX: right - 30, clientY: top + 42 };
  element.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true, ...at }));
}

function common({ one, model, actions, trans }: IHitActionsProps): IAction[] {
  const { hit, place } = one.found;
  const id = hit.memory_id;
  return [
    {
      label: trans.__('Open'),
      icon: launchIcon,
      title: place.closed ?? trans.__('Open where it is (Enter; Shift Enter to the side)'),
      disabled: place.path === null,
      run: () => void actions.open(hit, place, false)
    },
    {
      label: trans.__('Insert'),
      icon: addBelowIcon,
      title: actions.hasNotebook
        ? trans.__('Insert below the active cell (Ctrl Enter)')
        : trans.__('Open a notebook to insert into'),
      disabled: !actions.hasNotebook,
      run: () => void actions.insert(hit)
    },
    {
      label: trans.__('Copy'),
      icon: copyIcon,
      title: trans.__('Copy the whole text (C)'),
      run: () => void actions.copy(hit)
    },
    { label: trans.__('More like this'), icon: relatedIcon, run: () => void model.related(id) },
    {
      label: place.pinned ? trans.__('Unpin') : trans.__('Pin'),
      icon: pinIcon,
      pressed: place.pinned,
      run: () => void model.edits.pin(id, !place.pinned)
    },
    { label: trans.__('Forget'), icon: deleteIcon, title: trans.__('Forget it (Delete)'), run: () => model.forget(id) }
  ];
}

export function parseTags(line: string): string[] {
  const tags = line.split(/[,;\n]/).map(tag => tag.trim().replace(/^#+\s*/, ''));
  return [...new Set(tags.filter(tag => tag))];
}

function TagEditor(props: {
  tags: string[];
  trans: TranslationBundle;
  onDone(tags: string[] | null): void;
}): JSX.Element {
  const { trans } = props;
  const [line, setLine] = useState(props.tags.join(', '));
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.select(), []);
  return (
    <form
      className="jp-Memory-tagEditor"
      onSubmit={event => {
        event.preventDefault();
        props.onDone(parseTags(line));
      }}
    >
      <input
        ref={input}
        className="jp-mod-styled"
        dir="auto"
        value={line}
        aria-label={trans.__('Tags, with commas')}
        placeholder={trans.__('Tags, with commas')}
        onChange={event => setLine(event.target.value)}
        onKeyDown={event => {
          if (event.key === 'Escape') {
            event.stopPropagation();
            props.onDone(null);
          }
        }}
      />
      <button type="submit" className="jp-Memory-action">
        {trans.__('Keep')}
      </button>
    </form>
  );
}
