"""What the tests of the command line stand on: a home of their own, and a store that remembers a week."""

from pathlib import Path

import pytest
from commands import Run, runner


@pytest.fixture
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(home / "m.sqlite"))
    monkeypatch.setenv("COLUMNS", "80")
    return home


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys)


@pytest.fixture
def week(run: Run) -> Run:
    for arguments in (
        ["--title", "Prices", "--tag", "decision", "--on", "2026-03-02", "we scaled the prices to zero mean"],
        ["--title", "Müller", "--tag", "people", "--on", "2026-03-03", "Frau Müller wants λ = 0.3 in the ridge model"],
        ["--title", "Merge", "--on", "2026-03-04", "merge frames with a left join on the customer id"],
    ):
        assert run("add", *arguments).code == 0
    return run
