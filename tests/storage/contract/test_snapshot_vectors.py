"""What every storage must answer about the vectors and samples of one state of the store."""

from __future__ import annotations

import numpy as np
import pytest
from contract import DRAFTS, EVERYTHING, PRICES, RATE, WEIGHTS, keys_of, vector_of
from hashing import Hashing

from jupyter_memory.storage import EmbeddedParts
from jupyter_memory.storage.base import Calibration
from jupyter_memory.types import Filters, Terms


def test_models(embedded):
    """A model is known by its fingerprint; the first is active; few chunks are no large store."""
    embedder = Hashing()
    with embedded.snapshot() as snapshot:
        model = snapshot.active_model()
        assert (model.name, model.dimensions, model.fingerprint) == (embedder.name, 16, embedder.fingerprint)
        assert snapshot.model(embedder.fingerprint) == model and snapshot.models() == [model]
        assert snapshot.model("unknown") is None and not snapshot.is_large(model)
        assert snapshot.calibration(model) is None


def test_a_store_without_vectors(filled):
    """A store without vectors has no model, and no vectors of questions."""
    with filled.snapshot() as snapshot:
        assert snapshot.active_model() is None and snapshot.models() == []
        assert not snapshot.has_query_vectors()


def test_vector_matches(embedded):
    """Memories come by cosine, best first, within the filters and not below the threshold."""
    with embedded.snapshot() as snapshot:
        model, (rate, prices, cell) = snapshot.active_model(), keys_of(snapshot, *DRAFTS)
        found = snapshot.vector_matches(model, vector_of(PRICES), EVERYTHING, 9, None)
        assert found[0].memory == prices and found[0].score == pytest.approx(1, abs=1e-5)
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True) and len(found) == 3
        keys = zip((rate, prices, cell), DRAFTS, strict=True)
        expected = {key: float(vector_of(draft) @ vector_of(PRICES)) for key, draft in keys}
        assert {one.memory: one.score for one in found} == pytest.approx(expected, abs=1e-5)
        assert snapshot.cosines(model, vector_of(PRICES), [rate, cell]) == pytest.approx(
            {key: expected[key] for key in (rate, cell)}, abs=1e-5
        )
        near = snapshot.vector_matches(model, vector_of(PRICES), EVERYTHING, 9, 0.99)
        assert [one.memory for one in near] == [prices]
        assert len(snapshot.vector_matches(model, vector_of(PRICES), EVERYTHING, 2, None)) == 2
        cells = snapshot.vector_matches(model, vector_of(PRICES), Filters(kind=("cell",)), 9, None)
        assert [one.memory for one in cells] == [cell]


def test_vectors_of_chunks(embedded):
    """Vectors come with the keys of their memories; a chunk without one is left out."""
    with embedded.snapshot() as snapshot:
        keys = keys_of(snapshot, *DRAFTS)
        found = snapshot.vectors(snapshot.active_model(), [*snapshot.chunks_of(keys), 99_999])
        assert found.memories.tolist() == keys and found.ids.tolist() == snapshot.chunks_of(keys)
        assert np.array_equal(found.vectors, np.stack([vector_of(draft) for draft in DRAFTS]))


def test_what_lacks_vectors_or_tokens(embedded):
    """Chunks without vectors of a model are counted and listed, lowest first, above a given one."""
    model = embedded.writer.register_model(Hashing("other", 8))
    embedded.writer.keep_calibration(model, 3, 0.5)
    with embedded.snapshot() as snapshot:
        chunks = snapshot.chunks_of(keys_of(snapshot, *DRAFTS))
        assert snapshot.count_without_vectors(model) == 3
        assert snapshot.count_without_vectors(snapshot.active_model()) == 0
        assert snapshot.chunks_without_vectors(model, 2) == chunks[:2]
        assert snapshot.chunks_without_vectors(model, 9, chunks[0]) == chunks[1:]
        assert snapshot.calibration(model) == Calibration(3, 0.5)
        lacking = snapshot.chunks_without_tokens(9)
        assert set(lacking) | set(snapshot.tokens(chunks)) == set(chunks)
        assert snapshot.chunks_without_tokens(9, chunks[-1]) == []


def test_samples(filled):
    """A sample goes evenly from the first chunk to the last; a small store gives all that it has."""
    with filled.snapshot() as snapshot:
        chunks = snapshot.chunks_of(keys_of(snapshot, *DRAFTS))
        assert snapshot.newest_chunk() == chunks[-1] and snapshot.sample(9) == chunks
        assert snapshot.sample(2) == [chunks[0], chunks[-1]]
        assert snapshot.embedded_parts(chunks[:1]) == {chunks[0]: EmbeddedParts(RATE.kind, "Rate", "", RATE.text)}


def test_an_empty_store(storage):
    """An empty store has nothing of anything."""
    with storage.snapshot() as snapshot:
        assert snapshot.newest_chunk() == snapshot.count(EVERYTHING) == snapshot.corpus.chunks == 0
        assert snapshot.sample(9) == snapshot.keys(EVERYTHING) == snapshot.tags() == snapshot.models() == []
        assert snapshot.keyword_matches(Terms(words=("λ",)), WEIGHTS, EVERYTHING, 9) == []
        assert not snapshot.exists(EVERYTHING)
