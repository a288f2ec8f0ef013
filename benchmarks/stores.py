"""One store, and the same cut into three: how much worse the three are ranked when they are searched together.

    python benchmarks/stores.py JUDGED[=NOTEBOOKS]... [--questions N] [--work FOLDER]

Notebooks are dealt out by file, as three folders would have them, and documents by the digest of their names. For the
profile `auto`: nDCG@10 of the first N questions of each set and of all, the difference, whose target is .01, and
the share of questions whose own differs by less than .05.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path
from shutil import copy2
from statistics import fmean
from tempfile import TemporaryDirectory

from measure import parser_of, table

from jupyter_memory import JupyterMemory, Memory, MemoryStore
from jupyter_memory.evaluation import METRICS, JudgedSet, Question, beds, read_set
from jupyter_memory.store import Vaults
from jupyter_memory.types import Hit

PARTS = "abc"


def place_of(memory: Memory) -> tuple[str, str]:
    """Return what names a memory in every store."""
    return Path(memory.source).name, memory.location


def cut(judged: JudgedSet, notebooks: Path | None, group: str, work: Path, opened: ExitStack) -> dict[str, MemoryStore]:
    """Return three stores that together hold what is judged."""
    found = {}
    for number, part in enumerate(PARTS):
        name = f"{judged.name}-{blake2b(group.encode(), digest_size=4).hexdigest()}-{part}"
        store = MemoryStore(work / f"{name}.sqlite", "static", settings=JupyterMemory())
        found[part] = opened.enter_context(store)
        if notebooks is None:
            chosen = [one for one in judged.of_group(group) if blake2b(one.id.encode()).digest()[0] % 3 == number]
            store.add_many(
                (
                    {"text": one.text if one.text.strip() else one.title, "title": one.title, "source": one.id}
                    | {"event_at": one.date, "session": one.session}
                    for one in chosen
                    if one.text.strip() or one.title.strip()
                ),
                progress=False,
            )
            continue
        folder = work / name
        folder.mkdir(exist_ok=True)
        files = sorted(path for path in notebooks.rglob("*") if path.suffix in (".ipynb", ".md"))
        for path in files[number::3]:
            copy2(path, folder)
        store.index(folder, progress=False)
    return found


def main() -> None:
    """Measure."""
    parser = parser_of(__doc__)
    parser.add_argument("sets", nargs="+", metavar="JUDGED[=NOTEBOOKS]")
    parser.add_argument("--questions", type=int, help="of each set")
    parser.add_argument("--work", type=Path, help="keep the stores here for the next time")
    options = parser.parse_args()
    rows, every = (
        [("set", "questions", "one store", "three", "difference", "nearly alike")],
        list[tuple[float, float]](),
    )
    for one in options.sets:
        folder, _, given = one.partition("=")
        notebooks = Path(given) if given else None
        judged = read_set(Path(folder), notebooks)
        measured = []
        with ExitStack() as opened, beds(judged, "static", notebooks=notebooks, work=options.work) as whole:
            work = options.work or Path(opened.enter_context(TemporaryDirectory()))
            parts = {group: cut(judged, notebooks, group, work, opened) for group in judged.groups}
            names = {
                group: {
                    place_of(hit.memory): bed.documents[hit.memory.id] for hit in bed.store.browsed(limit=10**9).hits
                }
                for group, bed in whole.items()
            }
            for question in judged.questions[: options.questions]:
                together = Vaults(**{part: (store, 1.0) for part, store in parts[question.group].items()})
                asked = {"profile": "auto", "limit": 10, "now": question.date}
                answers = (
                    whole[question.group].store.hits(question.text, **asked).hits,
                    together.hits(question.text, deadline=None, **asked).hits,
                )
                measured.append(tuple(gain(hits, names[question.group], question) for hits in answers))
        rows.append((judged.name, *told(measured)))
        every += measured
    table([*rows, ("all", *told(every))])


def gain(hits: tuple[Hit, ...], names: Mapping[tuple[str, str], str], question: Question) -> float:
    """Return nDCG@10."""
    found = dict.fromkeys(names.get(place_of(hit.memory), hit.memory.id) for hit in hits)
    return METRICS["ndcg@10"](list(found), question.grades)


def told(measured: list[tuple[float, ...]]) -> tuple[str, ...]:
    """Return the figures of some questions."""
    one, three = (fmean(values) for values in zip(*measured, strict=True))
    alike = fmean(abs(whole - cut) < 0.05 for whole, cut in measured)
    return str(len(measured)), f"{one:.3f}", f"{three:.3f}", f"{three - one:+.4f}", f"{alike:.0%}"


if __name__ == "__main__":
    main()
