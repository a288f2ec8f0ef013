/** The pictures of a memory, as thumbnails that the store keeps. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { type MouseEvent, useState } from 'react';

import type { IPlacedHit } from '../../models/hits';
import { hitNames } from '../shared/names';

interface IPictureProps {
  source: string;
  label: string;
  tooltip?: string;
  onClick?(): void;
}

/** A picture, fetched when it comes into view; nothing once the store no longer has it. */
export function Picture({ source, label, tooltip, onClick }: IPictureProps): JSX.Element | null {
  const [lost, setLost] = useState<string | null>(null);
  // A card may be dragged, but not its picture alone; and the second click of a double click opens the card's file.
  const click = (event: MouseEvent): void => (event.detail === 1 ? onClick?.() : undefined);
  return lost === source ? null : (
    <img
      className={onClick ? 'jp-Memory-picture jp-mod-small' : 'jp-Memory-picture'}
      src={source}
      alt={label}
      title={tooltip}
      loading="lazy"
      draggable={false}
      onClick={click}
      onError={() => setLost(source)}
    />
  );
}

interface IPicturesProps {
  found: IPlacedHit;
  pictureOf(id: string, place: number): string;
  trans: TranslationBundle;
}

/** All pictures of a memory, as large as they are kept. */
export function Pictures({ found, pictureOf, trans }: IPicturesProps): JSX.Element | null {
  const { memory_id, thumbnails } = found.hit;
  const { title } = hitNames(found.hit, found.place, trans);
  return thumbnails === 0 ? null : (
    <div className="jp-Memory-pictures">
      {Array.from({ length: thumbnails }, (_, place) => (
        <Picture
          key={place}
          source={pictureOf(memory_id, place)}
          label={pictureLabel(place, thumbnails, title, trans)}
        />
      ))}
    </div>
  );
}

/** What a screen reader says of a picture: nobody has described it but the title of its cell. */
export function pictureLabel(place: number, all: number, title: string, trans: TranslationBundle): string {
  return all === 1 ? trans.__('Picture: %1', title) : trans.__('Picture %1 of %2: %3', place + 1, all, title);
}
