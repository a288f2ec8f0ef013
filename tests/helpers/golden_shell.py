"""The command line and the magics as a person types them, and what they print without what differs from run to run."""

import contextlib
import io
import re
import runpy
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import jupyter_memory


class Plain:
    """Makes a text the same in every run: places named, ids numbered, times of this run and sizes replaced."""

    def __init__(self, places: Mapping[str, str]) -> None:
        # A folder comes before the one that it lies in.
        self._places = sorted(places.items(), key=lambda one: -len(one[0]))
        self._ids: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        for place, name in self._places:
            text = text.replace(place, name)
        text = re.sub(r"\x1b\[[\d;]*m", "", text)
        text = re.sub(r'"(value|contribution|score|strength|cosine|bm25)": -?[\d.e-]+', self._rounded, text)
        text = re.sub(r"\b[0-9a-f]{32}\b|\b[0-9a-f]{16}\b", lambda found: self._numbered(found[0]), text)
        # Columns are as wide as the longest path in them.
        text = re.sub(r"(?<=\S)  +", "  ", text)
        text = text.replace(datetime.now(UTC).date().isoformat(), "TODAY")
        text = re.sub(r"in \d+\.\d s", "in 0.0 s", text)
        text = re.sub(r"\b[\d,.]+ (kB|KB|MB|GB)\b", "N MB", text)
        text = re.sub(r"^of which  .*", "of which  N MB", text, flags=re.MULTILINE)
        # Which BLAS a machine can load is its own.
        text = re.sub(r"^arithmetic  .*", "arithmetic  NumPy", text, flags=re.MULTILINE)
        text = re.sub(r'("(?:bytes|size|held)[a-z_]*": )\d+', r"\1 0", text)
        text = re.sub(r'("sizes": )\{[^{}]*\}', r"\1 {}", text)
        return text.replace(jupyter_memory.__version__, "VERSION")

    def _numbered(self, found: str) -> str:
        return self._ids.setdefault(found, f"ID{len(self._ids) + 1}")

    def _rounded(self, found: re.Match[str]) -> str:
        name, _, value = found[0].partition(": ")
        return f"{name}: {round(float(value), 4)}"


def run(*arguments: str) -> dict[str, Any]:
    """Run `python -m jupyter_memory` with arguments, in this process; return its exit code and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    before = sys.argv
    sys.argv = ["jupyter-memory", *arguments]
    code: Any = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            runpy.run_module("jupyter_memory", run_name="__main__")
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        sys.argv = before
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}


def lines(done: Mapping[str, Any], plain: Plain) -> dict[str, Any]:
    found: dict[str, Any] = {"code": done["code"]} if done["code"] else {}
    return found | {name: plain(done[name]).splitlines() for name in ("out", "err") if done[name]}


class Notebook:
    """A shell of IPython with the magics loaded, whose cells are run one by one."""

    def __init__(self) -> None:
        # Imported late: the command line needs no IPython.
        import shells

        self.shell = shells.made()
        # Results are asked for, not shown: how a table is shown depends on the terminal.
        hook = self.shell.displayhook
        hook.write_output_prompt = hook.finish_displayhook = lambda: None
        hook.write_format_data = lambda *_: None
        self.shell.run_line_magic("load_ext", "jupyter_memory")

    def run(self, cell: str) -> dict[str, Any]:
        """Run a cell; return what it printed, its result as text, or its error."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            done = self.shell.run_cell(cell, store_history=False)
        failed = done.error_in_exec or done.error_before_exec
        if failed is not None:
            return {"code": type(failed).__name__, "out": str(failed), "err": ""}
        shown = out.getvalue()
        if isinstance(done.result, str):
            shown += done.result
        elif done.result is not None:
            shown += done.result.to_csv(float_format="%.4f")
        return {"code": 0, "out": shown, "err": err.getvalue()}

    def close(self) -> None:
        self.shell.run_line_magic("unload_ext", "jupyter_memory")
        self.shell.restore_sys_module_state()
