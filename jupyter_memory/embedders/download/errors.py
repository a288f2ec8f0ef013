"""Errors of the network, the hub and the disk, each as one line that says what to do."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from jupyter_memory.embedders.download.hub import BrokenOff, address, endpoint
from jupyter_memory.embedders.registry import ModelEntry
from jupyter_memory.errors import FetchError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
_AGAIN = "Type the same again to go on from there."
_BY_HAND = "or give a folder that has the files: model use {name} --from PATH"


@contextmanager
def disk_explained(folder: str) -> Iterator[None]:
    """Context manager: turn what the disk refuses while something is written into ``folder`` into a ``FetchError``.

    Raises:
        FetchError: the disk failed.
    """
    try:
        yield
    except OSError as error:
        if (said := _disk(error, folder)) is None:
            raise
        raise FetchError(said) from error


@contextmanager
def explained(entry: ModelEntry, folder: str) -> Iterator[None]:
    """Context manager: turn errors while a model is fetched from the hub into ``folder`` into a ``FetchError``.

    Raises:
        FetchError: the network, the hub or the disk failed.
    """
    import httpx2

    try:
        with disk_explained(folder):
            yield
    except BrokenOff as broken:
        raise FetchError(f"The connection to {address()} is lost: {broken}. {_AGAIN}") from broken
    except OSError as error:
        # The hub's own errors are OSErrors too.
        if (said := _answered(error, entry)) is None:
            raise
        raise FetchError(said) from error
    except ImportError as missing:
        # A proxy of the kind socks5:// needs a package of its own.
        raise FetchError(f"The hub cannot be asked: {missing}. Unset the proxy, {_by_hand(entry)}") from missing
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise FetchError(_network(error, entry)) from error


def _answered(error: OSError, entry: ModelEntry) -> str | None:
    from huggingface_hub.errors import HfHubHTTPError

    if not isinstance(error, HfHubHTTPError):
        return None
    status = error.response.status_code
    where = f"{entry.repository} (revision {entry.revision[:12]}) at {address()}"
    if status in (401, 403):
        return (
            f"The hub refuses access to {where}: HTTP {status}. Set HF_TOKEN if it asks for a login, {_by_hand(entry)}"
        )
    if status == 404:
        return f"The hub has no {where}: HTTP 404. Check HF_ENDPOINT if it is set, {_by_hand(entry)}"
    if status == 429:
        return f"The hub has had too many requests from here: HTTP 429. Wait some minutes. {_AGAIN}"
    if status >= 500:
        return f"The hub at {address()} has a problem: HTTP {status}. Wait some minutes. {_AGAIN}"
    return f"The hub answers for {where} with HTTP {status}. Check HF_ENDPOINT if it is set, {_by_hand(entry)}"


def _disk(error: OSError, folder: str) -> str | None:
    if error.errno in _FULL:
        return f"The disk is full: {folder} cannot be written any further. Free some room, and type the same again."
    if error.errno in _FORBIDDEN:
        return (
            f"{error.filename or folder} cannot be written: {error.strerror}. Give yourself the right to, or choose "
            "another folder: c.JupyterMemory.models in jupyter_memory_config.py"
        )
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return f"{error.filename or folder} is in the way: a folder is needed there. Move it, and type the same again."
    return None


def _network(error: Exception, entry: ModelEntry) -> str:
    import httpx2

    host = urlsplit(endpoint()).hostname or address()
    proxy, named_by = _proxy()
    if proxy and isinstance(error, httpx2.ProxyError | httpx2.ConnectError | httpx2.TimeoutException):
        return f"The proxy {proxy} does not let {host} through. Check {named_by} and NO_PROXY, {_by_hand(entry)}"
    causes = list(_causes(error))
    if any(isinstance(cause, ssl.SSLError) for cause in causes) or "CERTIFICATE" in str(error):
        return (
            f"{host} shows a certificate that is not trusted here. If your network has its own, name it in "
            f"SSL_CERT_FILE, {_by_hand(entry)}"
        )
    if any(isinstance(cause, socket.gaierror) for cause in causes) or "resolution" in str(error):
        return f"{host} cannot be resolved: there is no network, or no such host. Try later, {_by_hand(entry)}"
    if isinstance(error, httpx2.TimeoutException):
        return f"{host} does not answer in time. Try later, {_by_hand(entry)}"
    if isinstance(error, httpx2.ConnectError):
        return f"{host} cannot be reached: there is no network, or the host is down. Try later, {_by_hand(entry)}"
    return f"The answer of {host} cannot be read ({type(error).__name__}). {_AGAIN}"


def _proxy() -> tuple[str, str]:
    # Both are empty if there is no proxy.
    asked = urlsplit(endpoint())
    proxies = getproxies()
    kind = asked.scheme if proxies.get(asked.scheme) else "all"
    proxy = proxies.get(kind)
    if not proxy or proxy_bypass(asked.netloc):
        return "", ""
    taken = urlsplit(proxy if "//" in proxy else f"//{proxy}")
    return f"{taken.hostname}:{taken.port}" if taken.port else str(taken.hostname), f"{kind.upper()}_PROXY"


def _causes(error: BaseException) -> Iterator[BaseException]:
    following: BaseException | None = error
    while following is not None:
        yield following
        following = following.__cause__ or following.__context__


def _by_hand(entry: ModelEntry) -> str:
    return _BY_HAND.format(name=entry.name)
