"""Put the frames of `ui-tests/shots/first_minute.shots.ts` together: moving_picture.py FOLDER writes docs/images."""

import json
import sys
from pathlib import Path

from PIL import Image

IMAGES = Path(__file__).parents[1] / "docs" / "images"

for theme in ("light", "dark"):
    folder = Path(sys.argv[1])
    shown = json.loads((folder / f"first_minute-{theme}.json").read_text(encoding="utf-8"))
    first, *others = (Image.open(folder / frame["file"]).convert("RGB") for frame in shown)
    first.save(
        IMAGES / f"first_minute-{theme}.webp",
        save_all=True,
        append_images=others,
        duration=[round(1000 * frame["seconds"]) for frame in shown],
        loop=0,
        quality=80,
        method=6,
        minimize_size=True,
    )
