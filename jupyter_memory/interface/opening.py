"""Opens the file of a memory from a terminal: in JupyterLab at the cell, or in an editor at the line."""

from __future__ import annotations

import os
import shlex
import subprocess
import webbrowser
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from jupyter_memory.errors import InputError
from jupyter_memory.types import Hit

# How editors take a line, by the name of their program.
_COLON = frozenset(["subl", "zed", "hx", "helix", "atom", "lapce"])
_GOTO = frozenset(["code", "code-insiders", "codium", "cursor", "windsurf", "positron"])
_PLUS = frozenset(["vi", "vim", "nvim", "gvim", "nano", "pico", "emacs", "emacsclient", "kak", "micro", "joe", "gedit"])


def open_file(path: str, place: str) -> str:
    """Open a file, or an address, at a place: the id of a cell or a line; return what to say."""
    if path.startswith(("https://", "http://")):
        return _browsed(path)
    if not Path(path).exists():
        raise InputError(f"{path} no longer exists, so it cannot be opened. Its text is still in the store.")
    if path.lower().endswith(".ipynb"):
        # Only this command asks for servers, and the extra `lab` brings them.
        with suppress(ImportError):
            from jupyter_server.serverapp import list_running_servers

            for server in list_running_servers():
                root = Path(str(server.get("root_dir") or server.get("notebook_dir") or os.sep))
                if Path(path).is_relative_to(root):
                    cell = f"#cell-id={quote(place)}" if place and not place.startswith("#") else ""
                    relative = quote(Path(path).relative_to(root).as_posix())
                    return _browsed(f"{server['url']}lab/tree/{relative}{cell}")
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    where = f"{path}:{place}" if place else path
    if not editor:
        return f"{where}\nTo open it in an editor, name one in the variable EDITOR; JupyterLab opens it while it runs."
    command = _editing(editor, path, place)
    try:
        subprocess.run(command, check=False)  # noqa: S603  the user's own editor
    except OSError as error:
        raise InputError(f"The editor {command[0]} cannot be started: {error.strerror}. Set EDITOR.") from None
    return f"opened {where}"


def line_of(hit: Hit) -> str:
    """Return where a hit is in its file: the line with the words that matched, if the file still has it."""
    text, start = hit.memory.text, hit.span[0]
    said = text[text.rfind("\n", 0, start) + 1 :].partition("\n")[0].strip()
    if not (hit.location.isdecimal() and said):
        return hit.location
    try:
        lines = Path(hit.memory.source).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return hit.location
    first = int(hit.location)
    return next(
        (str(number) for number, line in enumerate(lines[first - 1 :], first) if line.strip() == said), str(first)
    )


def _editing(editor: str, path: str, place: str) -> list[str]:
    # A backslash is part of a path on Windows, and quotes hold blanks together.
    if os.name == "nt" or "\\" in editor:
        command = [word.strip('"') for word in shlex.split(editor, posix=False)]
    else:
        command = shlex.split(editor)
    if not place.isdecimal():
        return [*command, path]
    name = Path(command[0].replace("\\", "/")).name.lower().removesuffix(".exe").removesuffix(".cmd")
    if name in _GOTO:
        return [*command, "--goto", f"{path}:{place}"]
    if name in _COLON:
        return [*command, f"{path}:{place}"]
    return [*command, f"+{place}", path] if name in _PLUS else [*command, path]


def _browsed(address: str) -> str:
    return f"opened {address}" if webbrowser.open(address) else f"{address}\nNo browser was found to open it."
