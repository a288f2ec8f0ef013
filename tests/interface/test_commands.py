"""The table of commands: one function and one row give both `%memory NAME` and `jupyter-memory NAME`."""

from __future__ import annotations

import pytest
import shells
from IPython.core.completer import provisionalcompleter
from IPython.core.error import UsageError

from jupyter_memory.cli import main
from jupyter_memory.interface import Argument, Call, Command, Front, Option, WrongUsage
from jupyter_memory.interface.commands import table


def shout(front: Front, call: Call) -> None:
    """Repeat words in capital letters, loudly.

    Examples::

        %memory shout λ --times 2
    """
    times = call.values["times"] or 1
    if times > 9:
        raise WrongUsage("That is too loud.")
    front.say(" ".join(call.words).upper() * times)


TIMES = Option(("--times",), "how often", "N", whole=True)
ROW = Command("shout", shout, (Argument("WORD", many=True),), (TIMES,), values=("quietly", "aloud"), missing="Say it.")


@pytest.fixture(autouse=True)
def added(monkeypatch, tmp_path):
    """Add the row to the table, in a home of the test."""
    monkeypatch.setattr(table, "COMMANDS", (*table.COMMANDS, ROW))
    for name in ("HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path))


@pytest.fixture
def shell():
    """An IPython shell with the extension."""
    ip = shells.made()
    ip.Completer.use_jedi = False
    ip.run_line_magic("load_ext", "jupyter_memory")
    yield ip
    ip.run_line_magic("unload_ext", "jupyter_memory")
    ip.restore_sys_module_state()


def test_a_notebook_has_it(shell, capsys):
    """The magic runs it, lists it, shows its help, completes it and refuses what does not fit."""
    shell.run_line_magic("memory", "shout λ ü --times 2")
    assert capsys.readouterr().out == "Λ ÜΛ Ü\n"
    shell.run_line_magic("memory", "")
    assert "%memory shout WORD…" in capsys.readouterr().out
    shell.run_line_magic("memory", "shout --help")
    assert "%memory shout λ --times 2" in capsys.readouterr().out
    with provisionalcompleter():
        for line, offer in (("%memory sho", "shout"), ("%memory shout q", "quietly"), ("%memory shout --t", "--times")):
            assert offer in [one.text for one in shell.Completer.completions(line, len(line))]
    for line, said in (("shout", "Say it."), ("shout x --times 10", "too loud"), ("shuot", "Did you mean")):
        with pytest.raises(UsageError, match=said):
            shell.run_line_magic("memory", line)


def test_a_terminal_has_it(capsys):
    """The command line runs it, lists it, shows its help and refuses what does not fit."""
    assert main(["shout", "λ", "ü", "--times", "2"]) == 0
    assert capsys.readouterr().out == "Λ ÜΛ Ü\n"
    assert main(["--help"]) == 0
    assert "shout    Repeat words in capital letters, loudly." in capsys.readouterr().out
    assert main(["shout", "--help"]) == 0
    assert "Usage: jupyter-memory shout [OPTIONS] WORD..." in capsys.readouterr().out
    for arguments, said in (([], "Error: Say it."), (["x", "--times", "10"], "Error: That is too loud.")):
        assert main(["shout", *arguments]) == 2
        assert said in capsys.readouterr().err
