"""What tests of changing models share: models whose vectors tell which one made them, and what a store holds."""

import hashlib

import numpy as np
from inside import storage_of

from jupyter_memory.text import embedding_text


class Hashing:
    """A model whose vectors follow from the digest of a text; ``before`` is called with each batch."""

    threshold = -1.0

    def __init__(self, name="λ-one", dimensions=16, before=lambda texts: None):
        self.name, self.dimensions, self.fingerprint = name, dimensions, f"{name}/{dimensions}"
        self.before = before
        self.batches = []

    def embed_documents(self, texts, /):
        self.before(texts)
        self.batches.append(len(texts))
        return np.stack([self.vector(text) for text in texts])

    def embed_query(self, text, /):
        return self.vector(text)

    def vector(self, text):
        seed = hashlib.sha256((self.fingerprint + text).encode()).digest()[:8]
        drawn = np.random.default_rng(int.from_bytes(seed, "big")).normal(size=self.dimensions).astype(np.float32)
        return drawn / np.linalg.norm(drawn)


def notes(count, start=0):
    return [{"text": f"Note {i} of λ in Zürich"} for i in range(start, start + count)]


def held(store):
    return [(model["name"], model["vectors"], model["active"]) for model in store.stats()["models"]]


def check_vectors(store, embedders):
    """Check that every vector is the one that its own model gives for its chunk, and that no chunk lacks one."""
    with storage_of(store) as storage, storage.database.read() as connection:
        texts = {
            row[0]: embedding_text(*row[1:])
            for row in connection.execute(
                """
                select chunks.id, memories.kind, chunk_texts.title, chunk_texts.context, chunk_texts.text
                from chunk_texts join chunks on chunks.id = chunk_texts.id join memories on key = chunks.memory
                """
            )
        }
        models = connection.execute("select id, fingerprint, active from models").fetchall()
        for model, fingerprint, active in models:
            vectors = dict(connection.execute(f"select chunk, embedding from vectors_{model}").fetchall())
            codes = {row[0] for row in connection.execute(f"select chunk from codes_{model}")}
            assert set(vectors) == codes <= set(texts)
            assert not active or codes == set(texts)
            for chunk, vector in vectors.items():
                assert vector == embedders[fingerprint].vector(texts[chunk]).tobytes()
    assert sum(active for _, _, active in models) <= 1
