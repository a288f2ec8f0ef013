"""`%memory watch`: folders that a kernel keeps up to date."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest
from IPython.core.error import UsageError

from jupyter_memory.interface.commands import store


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    """End the threads that a test started."""
    yield
    for thread in store._threads.values():
        thread.close()
    store._threads.clear()


def test_a_kernel_keeps_a_folder_up_to_date(shell, tmp_path: Path, capsys):
    """It is indexed at once; what another program saves there is found; --off ends that."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "one.md").write_text("The tariff of Zürich.\n")
    shell.run("%memory watch")
    assert "No folder is watched" in capsys.readouterr().out
    shell.run(f"%memory watch {folder}")
    said = capsys.readouterr().out
    assert "1 file indexed" in said and str(folder) in said
    assert shell.titles("%memsearch tariff") == ["one.md"]

    (folder / "two.md").write_text("The fare of Malmö.\n")
    end = monotonic() + 20
    while shell.titles("%memsearch fare of Malmö")[:1] != ["two.md"]:
        assert monotonic() < end
        sleep(0.1)
    capsys.readouterr()
    shell.run("%memory watch")
    assert "This kernel follows them" in capsys.readouterr().out
    shell.run(f"%memory watch --off {folder}")
    shell.run("%memory watch")
    assert "No folder is watched" in capsys.readouterr().out


def test_what_is_no_folder_is_refused(shell, tmp_path: Path):
    """Nothing is indexed, and the error says what can be done with a file."""
    (tmp_path / "one.md").write_text("The tariff of Zürich.\n")
    with pytest.raises(UsageError, match="a single file can be indexed"):
        shell.run(f"%memory watch {tmp_path / 'one.md'}")
