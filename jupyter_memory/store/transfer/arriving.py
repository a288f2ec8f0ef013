"""What an exported folder holds, checked whole before anything of it is stored, then read some memories at a time.

Also what a store knows already of memories that arrive, from a folder or another store.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.preparation import clean
from jupyter_memory.ingest.redaction.redactor import redact
from jupyter_memory.ingest.runs import in_bounds
from jupyter_memory.runtime import batches
from jupyter_memory.storage.writing import Storage, Stored
from jupyter_memory.store.transfer import folder, records
from jupyter_memory.types import Chunk, Draft, Filters, Memory, Run
from jupyter_memory.types.memory import MOST_THUMBNAILS, NO_PICTURES, Pictures


def looked_up(storage: Storage, some: Sequence[tuple[str, Draft]]) -> tuple[dict[str, Memory], set[str]]:
    """Return the memories that a store knows, by id, and the ids to leave out: it has read their file itself."""
    with storage.snapshot() as snapshot:
        held = snapshot.memories(snapshot.keys(Filters(), [id_ for id_, _ in some])).values()
        known = {memory.id: memory for memory in held}
        of_files = [(id_, draft) for id_, draft in some if draft.kind in ("file", "cell") and id_ not in known]
        states = snapshot.file_states([(draft.source, draft.space) for _, draft in of_files])
        same = snapshot.same_content([draft for _, draft in of_files])
    left = {
        id_
        for (id_, draft), key in zip(of_files, same, strict=True)
        if key is None and (draft.source, draft.space) in states
    }
    return known, left


@dataclass(frozen=True, slots=True)
class Arrival:
    """A memory of the folder, with a draft that has no secrets, and its runs."""

    stored: Stored
    draft: Draft
    runs: tuple[Run, ...]


class ExportedFolder:
    """An exported folder; nothing in it is trusted.

    Raises:
        InputError: it is no exported folder, or something in it cannot be imported.
    """

    def __init__(self, path: Path, *, redacting: bool) -> None:
        self._path = path
        self._redacting = redacting
        # Where the runs and pictures of each memory are, since all of them may not fit into memory.
        self._runs: dict[str, list[int]] = defaultdict(list)
        self._pictures: dict[str, list[int]] = defaultdict(list)
        folder.about(path)
        self.count = self._check()

    def memories(self, together: int) -> Iterator[list[Arrival]]:
        """Yield the memories in their order, so many at a time."""
        for some in batches(map(records.to_memory, folder.lines(self._path, folder.MEMORIES)), together):
            ids = [stored.memory.id for stored in some]
            runs, pictures = self._runs_of(ids), self._pictures_of(ids)
            yield [
                Arrival(stored, self._draft(stored, pictures[id_]), runs[id_])
                for stored, id_ in zip(some, ids, strict=True)
            ]

    def _check(self) -> int:
        """Read everything once; return how many memories there are."""
        kinds: dict[str, str] = {}
        for record in folder.lines(self._path, folder.MEMORIES):
            memory = records.to_memory(record).memory
            if memory.id in kinds:
                raise record.wrong("id", "one that no line before has")
            kinds[memory.id] = memory.kind
        for place, record in folder.located(self._path, folder.RUNS):
            run = records.to_run(record)
            if kinds.get(run.memory_id) != "history":
                raise record.wrong("memory", f"the id of a memory of kind history in {folder.MEMORIES}")
            self._runs[run.memory_id].append(place)
        self._check_pictures(kinds)
        for record in folder.lines(self._path, folder.FILES):
            records.to_file(record)
        for record in folder.lines(self._path, folder.FOLDERS):
            records.to_folder(record)
        for record in folder.lines(self._path, folder.FEEDBACK):
            records.to_feedback(record)
        return len(kinds)

    def _check_pictures(self, ids: Collection[str]) -> None:
        for place, record in folder.located(self._path, folder.PICTURES):
            memory_id, _ = records.to_picture(record)
            if memory_id not in ids:
                raise record.wrong("memory", f"the id of a memory in {folder.MEMORIES}")
            if len(self._pictures[memory_id]) == MOST_THUMBNAILS:
                raise record.wrong("memory", f"one that has fewer than {MOST_THUMBNAILS} pictures")
            self._pictures[memory_id].append(place)

    def _runs_of(self, ids: Sequence[str]) -> dict[str, tuple[Run, ...]]:
        if not any(id_ in self._runs for id_ in ids):
            return dict.fromkeys(ids, ())
        with folder.opened(self._path / folder.RUNS) as stream:
            return {
                id_: tuple(
                    in_bounds(records.to_run(folder.at(stream, place, folder.RUNS)), redacting=self._redacting)
                    for place in self._runs.get(id_, ())
                )
                for id_ in ids
            }

    def _pictures_of(self, ids: Sequence[str]) -> dict[str, Pictures]:
        if not any(id_ in self._pictures for id_ in ids):
            return dict.fromkeys(ids, NO_PICTURES)
        with folder.opened(self._path / folder.PICTURES) as stream:
            return {
                id_: Pictures(
                    tuple(
                        records.to_picture(folder.at(stream, place, folder.PICTURES))[1]
                        for place in self._pictures.get(id_, ())
                    )
                )
                for id_ in ids
            }

    def _draft(self, stored: Stored, pictures: Pictures) -> Draft:
        """Return the draft of a memory; where a secret was found in its text, it is cut into chunks anew."""
        draft = replace(stored.draft, pictures=pictures, chunks=())
        try:
            cleaned = clean(draft, redacting=self._redacting)
        except InputError as error:
            raise InputError(f"{stored.memory.id} cannot be imported: {error}") from None
        same = cleaned.text == stored.memory.text
        return replace(cleaned, chunks=tuple(map(self._hidden, stored.chunks)) if same else ())

    def _hidden(self, chunk: Chunk) -> Chunk:
        return replace(chunk, context=redact(chunk.context)[0]) if self._redacting and chunk.context else chunk
