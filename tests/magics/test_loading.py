"""Loading the extension, its settings, and taking it out again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import shells
from IPython.core.interactiveshell import InteractiveShell

from jupyter_memory.magics.completion import IDENTIFIER
from jupyter_memory.magics.parsing import keep_questions


def counts(ip: InteractiveShell) -> tuple[int, int, int]:
    """Return how many of our transformers, matchers and settings a shell holds."""
    return (
        ip.input_transformers_cleanup.count(keep_questions),
        sum(getattr(one, "matcher_identifier", None) == IDENTIFIER for one in ip.Completer.custom_matchers),
        sum(type(one).__name__ in ("JupyterMemory", "MemoryMagics") for one in ip.configurables),
    )


def test_loading_twice_is_loading_once(shell) -> None:
    """Loaded again, there is still one of everything."""
    before = counts(shell.ip)
    shell.run("%reload_ext jupyter_memory\n%load_ext jupyter_memory")

    assert before[:2] == (1, 1)
    assert counts(shell.ip) == before
    shell.run("%memsearch works?")


def test_unloading_leaves_nothing(shell) -> None:
    """Unloaded, the magics, their settings and their transformations are gone."""
    shell.run("%unload_ext jupyter_memory")

    assert counts(shell.ip) == (0, 0, 0)
    assert "not found" in shell.mistake("%memsearch λ")
    assert "not found" in shell.mistake("%%memadd\nλ")
    shell.run("%load_ext jupyter_memory")
    assert shell.run("%memsearch λ").empty


def test_unloading_closes_the_store(week) -> None:
    """Unloaded, the store is closed."""
    store = week.ip.magics_manager.registry["MemoryMagics"].session.store
    week.run("%unload_ext jupyter_memory")

    assert store.closed


def test_loading_makes_no_store(shell, home: Path) -> None:
    """The store's file is made by the first use, not by loading."""
    assert not (home / "data" / "memory").exists()
    shell.run("%memsearch λ")
    assert (home / "data" / "memory" / "memory.sqlite").exists()


def test_config_shows_the_settings(shell, capsys) -> None:
    """`%config JupyterMemory` lists the settings with their help."""
    capsys.readouterr()
    shell.run("%config JupyterMemory")

    shown = capsys.readouterr().out
    assert "JupyterMemory.limit=<Int>" in shown
    assert "How many results a search gives." in shown


def test_config_changes_the_next_search(week) -> None:
    """`%config JupyterMemory.limit = …` holds from the next search on."""
    week.run("%config JupyterMemory.limit = 2")

    assert len(week.run("%memsearch")) == 2
    assert len(week.run("%memsearch the -n 4")) > 2


def test_config_changes_the_store(week, tmp_path: Path, capsys) -> None:
    """Another path opens another store, and the first one again when the path is set back."""
    week.run(f"%config JupyterMemory.path = '{tmp_path}/other.sqlite'")
    week.run("%memadd only here")
    assert len(week.run("%memsearch")) == 1
    week.run("%config JupyterMemory.path = ''")
    assert len(week.run("%memsearch")) == 5


def test_config_refuses_nonsense(week, caplog) -> None:
    """A value that cannot be is refused with the setting's name, and the old one stays."""
    week.run("%config JupyterMemory.limit = 0")

    assert "limit" in caplog.text
    assert len(week.run("%memsearch")) == 5


def test_ipython_configuration_is_read(home: Path) -> None:
    """`c.JupyterMemory` in IPython's own configuration counts, and says so."""
    ip = shells.made(JupyterMemory={"limit": 4})
    ip.run_cell("%load_ext jupyter_memory")
    settings = ip.magics_manager.registry["MemoryMagics"].session.settings

    assert (settings.limit, settings.origin("limit")) == (4, "IPython's configuration")


def test_a_broken_config_file_is_named_once(bare, home: Path, capsys) -> None:
    """A broken config file is one line on stderr, and the magics work."""
    (home / "config").mkdir()
    (home / "config" / "jupyter_memory_config.py").write_text("c.JupyterMemory.limit = = 3")
    bare.run("%load_ext jupyter_memory")

    assert "jupyter_memory_config.py cannot be read" in capsys.readouterr().err
    assert bare.run("%memsearch λ").empty
    bare.run("%memory config")
    assert "jupyter_memory_config.py cannot be read" in capsys.readouterr().out


def test_a_wrong_profile_is_refused_at_once(week, caplog) -> None:
    """A profile that does not exist is refused at once; the one before it stays, and later settings are taken."""
    week.run("%config JupyterMemory.profile = 'vault'")
    week.run("%config JupyterMemory.profile = 'autp'")
    assert "profile: There is no profile 'autp'. Did you mean 'auto'?" in caplog.text

    week.run("%config JupyterMemory.limit = 1")
    assert week.run("%memsearch Müller").attrs["memsearch"]["profile"] == "vault"
    assert week.titles("%memsearch Müller") == ["Müller"]


def test_a_wrong_profile_in_a_file_is_named_when_the_extension_is_loaded(bare, home: Path, capsys) -> None:
    """The file is named, and searches use the profile that there was before."""
    (home / "config").mkdir()
    (home / "config" / "jupyter_memory_config.py").write_text("c.JupyterMemory.profile = 'autp'\n")
    bare.run("%load_ext jupyter_memory")

    said = capsys.readouterr().err
    assert "jupyter_memory_config.py: profile: There is no profile 'autp'" in said and "stays 'auto'" in said
    assert bare.run("%memsearch λ").attrs["memsearch"]["profile"] == "auto"


def test_a_damaged_store_is_one_line(shell, home: Path) -> None:
    """A file that is no store is a one-line mistake."""
    (home / "not.sqlite").write_text("these are just words, " * 100)
    shell.run(f"%config JupyterMemory.path = '{home}/not.sqlite'")

    assert "not.sqlite" in shell.mistake("%memsearch λ")
    assert "not.sqlite" in shell.mistake("%memadd λ")


def test_a_store_whose_file_is_another(week, home: Path, tmp_path: Path) -> None:
    """A backup that is put in the place of the store is what the next line reads and writes, and so is a new store."""
    file = Path(week.run("%memsearch prices").attrs["memsearch"]["store"])
    week.run(f"%memory backup {tmp_path / 'copy.sqlite'}")
    week.run("%memory forget --tag decision")
    for ending in ("", "-wal", "-shm"):
        file.with_name(file.name + ending).unlink(missing_ok=True)
    (tmp_path / "copy.sqlite").rename(file)

    found = week.run("%memsearch we scaled the prices")
    assert found.loc[1, "title"] == "Prices" and "ridge" not in found.memory.text(1)
    week.run("%memadd --title Genève the tariff of Genève has λ = 2")
    assert week.titles("%memsearch Genève")[0] == "Genève"

    for ending in ("", "-wal", "-shm"):
        file.with_name(file.name + ending).unlink(missing_ok=True)
    week.run("%memadd --title new begun again in Zürich")
    assert week.titles("%memsearch Zürich") == ["new"]


def test_two_shells_share_a_store(week) -> None:
    """What one kernel remembers, another one finds."""
    other = shells.made()
    other.run_cell("%load_ext jupyter_memory\n%memadd --title Shared both see λ")

    assert "Shared" in week.titles("%memsearch both see λ")
    other.run_line_magic("unload_ext", "jupyter_memory")


@pytest.mark.parametrize(
    "module",
    [
        "pandas", "mlx.core", "dateparser", "nbformat", "numpy", "apsw", "tomllib", "webbrowser",
        "jupyter_memory.store.store",
    ],
)  # fmt: skip
def test_loading_is_light(home: Path, module: str) -> None:
    """Loading the extension loads neither pandas, NumPy, SQLite nor MLX: a kernel that never searches does not wait."""
    code = (
        "import sys; from IPython.core.interactiveshell import InteractiveShell; ip = InteractiveShell();"
        f"ip.run_line_magic('load_ext', 'jupyter_memory'); sys.exit({module!r} in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=100).returncode == 0
