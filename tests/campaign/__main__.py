"""Run the campaign: ``make campaign``, or ``python -m campaign`` with ``tests`` and ``tests/helpers`` on the path."""

import argparse
import importlib
import pkgutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

import campaign
from campaign import Dose


def parts() -> list[str]:
    names = (module.name for module in pkgutil.iter_modules(campaign.__path__))
    return sorted(name for name in names if not name.startswith(("_", "test_")))


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill, damage and crowd the store, and count what is lost.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"which parts (default: all): {', '.join(parts())}")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="repeat the run with this seed")
    parser.add_argument("--scale", type=float, default=1.0, help="a part of the full dose, such as 0.1")
    options = parser.parse_args()
    if unknown := sorted({*options.parts} - {*parts()}):
        parser.error(f"no such part: {', '.join(unknown)}. There are {', '.join(parts())}.")
    failed = []
    for name in options.parts or parts():
        started = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
            try:
                figures = importlib.import_module(f"campaign.{name}").run(
                    Dose(options.seed, options.scale, Path(folder))
                )
                said = ", ".join(f"{value} {what}" for what, value in figures.items())
            except Exception:  # noqa: BLE001  the other parts still run
                traceback.print_exc()
                failed.append(name)
                said = "FAILED"
        print(f"{name}: {said} (seed {options.seed}, {time.perf_counter() - started:.0f} s)", flush=True)
    print(f"{len(options.parts or parts()) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
