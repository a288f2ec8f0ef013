"""The benchmark of search over notebook cells: the set is whole, downloads are checked, and the table is printed."""

import hashlib
import json
import os
import re
import runpy
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from small_notebooks import write

ROOT = Path(__file__).parents[2]
HERE = ROOT / "benchmarks" / "notebook_search"
CELLS = {
    "prices": ("# Prices of Zürich", "scaled = prices / prices.max()  # λ of the market"),
    "kernel": ("kernel = gaussian(width=3)", "The kernel smooths every series."),
    "zones": ("zones = read('zones.csv')", "plot(zones, colour='red')"),
}
ASKED = {"exact": ("gaussian(width=3)", "kernel#0"), "task": ("how did I read the zones", "zones#0")}
NOWHERE = "kafka consumer lag"


def script(name: str) -> dict[str, Any]:
    return runpy.run_path(str(HERE / f"{name}.py"))


@pytest.fixture(autouse=True)
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HERE))


def test_a_table_of_all_methods(tmp_path: Path) -> None:
    """What is remembered word for word comes first by each method, and none finds what is in no cell."""
    for name, cells in CELLS.items():
        write(tmp_path / "notebooks" / f"{name}.ipynb", *cells)
    lines = [{"_id": kind, "text": text, "type": kind} for kind, (text, _) in ASKED.items()]
    lines.append({"_id": "nowhere", "text": NOWHERE, "answerable": False})
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    grades = ["\t".join((kind, *cell.replace("#", ".ipynb#").split("#"), "2")) for kind, (_, cell) in ASKED.items()]
    (tmp_path / "qrels.tsv").write_text("\n".join(["query-id\tnotebook\tcell\tgrade", *grades]), "utf-8")
    command = [sys.executable, str(HERE / "run.py"), "--tiny", str(tmp_path)]
    around = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=around, cwd=ROOT, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 questions with an answer and 1 without, 3 notebooks, 6 cells\n")
    for name in ("(?:ripgrep|grep)", "SQLite FTS5", "covalence", "auto"):
        assert re.search(rf"^{name} +1\.000 \(1\.000-1\.000\) ", done.stdout, re.MULTILINE), done.stdout
        told = rf"^{name} +1\.000 \S+ +1\.000 \S+ +0\.000 \S+ +0\.000 \S+$"
        assert re.search(told, done.stdout, re.MULTILINE), done.stdout
    for name in ("LanceDB", "semble"):
        assert re.search(rf"^{name}(: not measured, \w| +\d)", done.stdout, re.MULTILINE), done.stdout


def test_downloads_are_checked(tmp_path: Path) -> None:
    """A package is downloaded once; one that is missing, damaged or without a notebook stops with what happened."""
    module = script("fetch")
    fetch, broken = module["fetch"], module["Broken"]
    notebook = write(tmp_path / "book-1.0" / "docs" / "n.ipynb", "x = 1")
    packed = tmp_path / "book-1.0.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(tmp_path / "book-1.0", "book-1.0")
    url, digests = packed.as_uri(), [hashlib.sha256(path.read_bytes()).hexdigest() for path in (packed, notebook)]
    source = {
        "project": "book",
        "license": "MIT",
        "url": url,
        "sha256": digests[0],
        "notebooks": {"docs/n.ipynb": digests[1]},
    }
    kept = fetch(tmp_path / "cache", [source]) / "book.n.ipynb"
    assert kept.read_bytes() == notebook.read_bytes()
    for changed, told in (
        ({"url": (tmp_path / "none-1.0.tar.gz").as_uri()}, "cannot be downloaded"),
        ({"sha256": "0" * 64}, "the download is damaged"),
        ({"notebooks": {"docs/n.ipynb": "0" * 64}}, r"docs/n\.ipynb of book has another hash"),
        ({"notebooks": {"docs/m.ipynb": digests[1]}}, r"docs/m\.ipynb of book is not in the package"),
    ):
        with pytest.raises(broken, match=told):
            fetch(tmp_path / "empty", [source | changed])
    packed.unlink()
    assert fetch(tmp_path / "cache", [source]) == kept.parent


def test_three_hundred_questions_and_a_hundred_without_an_answer() -> None:
    """Sixty or more of each type and twenty of each kind without an answer, about half kept out of tuning."""
    questions = list(script("judgements")["read_questions"]().values())
    sorts = [[one for one in questions if one.get("answerable", True) is answer] for answer in (True, False)]
    assert [len(sort) for sort in sorts] == [313, 100] and len({one["text"] for one in questions}) == 413
    for sort, least in zip(sorts, (60, 20), strict=True):
        counted = Counter(one["type"] for one in sort)
        assert len(counted) == 5 and min(counted.values()) >= least
        assert 0.4 < sum(one["split"] == "tune" for one in sort) / len(sort) < 0.6
    named = {
        script("fetch")["kept_as"](one["project"], path)
        for one in script("fetch")["sources"]()
        for path in one["notebooks"]
    }
    assert len(named) == 142
    for one in script("fetch")["sources"]():
        commits = one.get("commits", {})
        assert commits.keys() <= one["notebooks"].keys()
        assert all(re.fullmatch("[0-9a-f]{40}", commit) for commit in commits.values())
    judged = {cell.partition("#")[0] for of in script("judgements")["read_grades"]("qrels.tsv").values() for cell in of}
    assert judged <= named


def test_judges_are_compared() -> None:
    """Kappa is that of Cohen's definition; cells count by both grades, and by the answering ones alone."""
    agreement = script("judgements")["agreement"]
    first = {"a": {"n#0": 2, "n#1": 1}, "b": {"n#2": 2}}
    second = {"a": {"n#0": 2, "n#3": 1}, "b": {"n#1": 2}, "c": {}, "d": {"n#1": 1}}
    answerable = {"a": True, "b": True, "c": False, "d": False}
    told = "\n".join(agreement(first, second, answerable, 10))
    assert "4 questions judged twice, 2 of them with an answer" in told
    assert "kappa 0.50; answers for 1 unanswerable ones" in told
    assert "cells answering: kappa 0.44, overlap (Jaccard, mean over questions) 0.50" in told
    assert "cells answering or helping: kappa 0.22, overlap (Jaccard, mean over questions) 0.17" in told
