"""Files of the hub: their description, and their bytes, resumed where an earlier attempt broke off, then checked.

The client of the hub only describes them: since version 2.4, `hf_hub_download` deletes the part of a broken download.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from jupyter_memory.embedders.registry import ModelEntry
from jupyter_memory.errors import FetchError

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
                f"{place} cannot be written: {error.strerror}. Give yourself the right to, or choose "
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
            said = f"The hub has had too many requests from here: HTTP 429. Wait some minutes. {_AGAIN}"
        elif status >= 500:
            said = f"The hub at {address()} has a problem: HTTP {status}. Wait some minutes. {_AGAIN}"
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
