"""What the tests of the command line stand on: a home of their own, and a store that remembers a week."""

from pathlib import Path

import pytest
from commands import Run, runner


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(tmp_path / "m.sqlite"))
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


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
