"""A server on loopback that answers as the hub does: resolve with ETag, commit and sizes, ranges, and faults on demand.

python tests/helpers/hub_like.py FOLDER [PORT]    serves FOLDER as nomic-ai/nomic-embed-text-v1.5 at the pinned revision
"""

import hashlib
import ssl
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self

from jupyter_memory.embedders import NOMIC


class OnLoopback:
    """A server on loopback whose handlers ask ``self.server.owner``; what waits at ``gate`` goes on when it ends."""

    def __init__(self, handler: type[BaseHTTPRequestHandler], port: int = 0) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self.server.daemon_threads = True
        self.server.owner = self  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()


class HubLike(OnLoopback):
    """A hub with one model; what it does wrong is set before it is asked.

    ``status`` answers everything with an error; ``broken`` maps a name to the bytes at which its next answers end;
    ``lying`` names files whose bytes are not those of their checksum; ``deaf`` ignores ranges; ``headers`` changes
    headers of HEAD (None takes one away); ``gate`` is waited for after the weights are sent; ``asked`` keeps what was
    asked. As a proxy it answers in the place of any host, with a certificate made by ``certify``.
    """

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.files = {file.name: file.read_bytes() for file in Path(folder).iterdir() if file.is_file()}
        self.asked: list[tuple[str, str, str | None]] = []
        self.agents: set[str | None] = set()
        self.status: int | None = None
        self.broken: dict[str, list[int]] = {}
        self.lying: set[str] = set()
        self.deaf = False
        self.headers: dict[str, str | None] = {}
        self.secured = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        super().__init__(_Handler, port)

    def certify(self, folder: Path, host: str) -> Path:
        key, certificate = folder / "key.pem", folder / "certificate.pem"
        made = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={host} -addext subjectAltName=DNS:{host}"
        subprocess.run([*made.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True)
        self.secured.load_cert_chain(certificate, key)
        return certificate

    def asked_for(self, method: str) -> list[tuple[str, str | None]]:
        return [(name, wanted) for how, name, wanted in self.asked if how == method]

    def etag(self, name: str) -> str:
        """Return what the hub calls a file: the sha256 of a large one, git's SHA-1 of a small one."""
        content = self.files[name]
        if name.endswith(".safetensors"):
            return hashlib.sha256(content).hexdigest()
        return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def hub(self) -> HubLike:
        return self.server.owner  # type: ignore[attr-defined]

    def do_CONNECT(self) -> None:
        self._begin(200, {})
        self.connection = self.hub.secured.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
        self.close_connection = False

    def do_HEAD(self) -> None:
        name = self._name()
        if name is None:
            return
        large = name.endswith(".safetensors")
        said: dict[str, str | None] = {
            "X-Repo-Commit": NOMIC.revision,
            "ETag": f'"{self.hub.etag(name)}"',
            "Content-Length": str(len(self.hub.files[name])),
        }
        if large:
            # A redirect to where it is stored; its own checksum and size are in headers of the hub's.
            said |= {
                "ETag": '"of-the-store"', "Content-Length": "0", "X-Linked-Etag": f'"{self.hub.etag(name)}"',
                "X-Linked-Size": str(len(self.hub.files[name])), "Location": self._stored(name),
            }  # fmt: skip
        self._begin(302 if large else 200, said | self.hub.headers)

    def do_GET(self) -> None:
        name = self._name()
        if name is None:
            return
        if name.endswith(".safetensors") and not self.path.startswith("/stored/"):
            self._begin(302, {"Location": self._stored(name), "Content-Length": "0"})
            return
        content = self.hub.files[name]
        if name in self.hub.lying:
            content = bytes(255 - byte for byte in content)
        wanted = None if self.hub.deaf else self.headers.get("Range")
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        said: dict[str, str | None] = {"Content-Length": str(len(content) - start), "Accept-Ranges": "bytes"}
        if wanted:
            said["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        self._begin(206 if wanted else 200, said)
        self._send(name, content, start)

    def _send(self, name: str, content: bytes, start: int) -> None:
        ends = self.hub.broken.get(name, [])
        end = ends.pop(0) if ends else len(content)
        self.wfile.write(content[start:end])
        self.wfile.flush()
        if name.endswith(".safetensors"):
            self.hub.gate.wait(100)
        if end < len(content):
            self.close_connection = True

    def _stored(self, name: str) -> str:
        """Return where a large file is stored: on another host, as the hub's client follows redirects of one host."""
        return f"http://localhost:{self.hub.server.server_port}/stored/{name}"

    def _name(self) -> str | None:
        place, _, name = self.path.rpartition("/")
        # huggingface-hub also asks for /api/agent-harnesses, once a day: its telemetry is not what is tested here.
        if place not in ("/stored", "/api"):
            self.hub.asked.append((self.command, name, self.headers.get("Range")))
            self.hub.agents.add(self.headers.get("User-Agent"))
        known = place in ("/stored", f"/{NOMIC.repository}/resolve/{NOMIC.revision}")
        status = self.hub.status or (None if known and name in self.hub.files else 404)
        if status is None:
            return name
        self._begin(status, {"Content-Length": "0"})
        return None

    def _begin(self, status: int, headers: dict[str, str | None]) -> None:
        self.send_response(status)
        for header, value in headers.items():
            if value is not None:
                self.send_header(header, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    with HubLike(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0) as running:
        sys.stdout.write(f"HF_ENDPOINT={running.url}\n")
        sys.stdout.flush()
        threading.Event().wait(100)
