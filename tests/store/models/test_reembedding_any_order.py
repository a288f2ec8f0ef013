"""Models changed in any order with adding, stopping, forgetting and dropping: no two are ever mixed."""

from __future__ import annotations

import tempfile
from contextlib import suppress

from hashing import Hashing, check_vectors, notes
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from jupyter_memory import EmbedderError, MemoryStore


class Changing(RuleBasedStateMachine):
    """Two connections that add, change models, stop half-way, forget and drop, in any order."""

    @initialize()
    def begin(self):
        self.folder = tempfile.TemporaryDirectory()
        self.models = {name: Hashing(name, 8) for name in ("a", "b", "c")}
        self.stores = [MemoryStore(f"{self.folder.name}/memory.sqlite", self.models["a"]) for _ in range(2)]
        self.count = 0

    def one(self, which):
        """Return a store as one that follows the file's model, as "auto" does with models that have a name."""
        store = self.stores[which]
        with store._storage.database.read() as connection:
            active = store._storage.vectors.active(connection)
        if active is not None:
            store._model.adopt(self.models[active.name])
        return store

    @rule(which=st.integers(0, 1), count=st.integers(1, 4))
    def add(self, which, count):
        self.one(which).add_many(notes(count, self.count), progress=False)
        self.count += count

    @rule(which=st.integers(0, 1), name=st.sampled_from("abc"), keep=st.booleans(), meanwhile=st.booleans())
    def change(self, which, name, keep, meanwhile):
        model = self.models[name]

        def add(texts):
            model.before = lambda texts: None
            if meanwhile:
                self.add(1 - which, 1)

        model.before = add
        self.stores[which].reembed(model, progress=False, keep=keep)
        model.before = lambda texts: None

    @rule(which=st.integers(0, 1), name=st.sampled_from("abc"))
    def stop(self, which, name):
        model = self.models[name]

        def fail(texts):
            raise EmbedderError("no λ left")

        model.before = fail
        with suppress(EmbedderError):
            self.stores[which].reembed(model, progress=False)
        model.before = lambda texts: None

    @precondition(lambda self: self.count)
    @rule(which=st.integers(0, 1), newest=st.booleans())
    def forget(self, which, newest):
        memories = [hit.memory.id for hit in self.stores[which].browsed(limit=100).hits]
        if memories:
            self.stores[which].forget(memories[0 if newest else -1])

    @rule(which=st.integers(0, 1))
    def drop(self, which):
        self.stores[which].drop_vectors()

    @invariant()
    def every_vector_is_of_its_own_model(self):
        if hasattr(self, "stores"):
            for store in self.stores:
                check_vectors(store, {model.fingerprint: model for model in self.models.values()})

    def teardown(self):
        if hasattr(self, "stores"):
            for store in self.stores:
                store.close()
            self.folder.cleanup()


Changing.TestCase.settings = settings(max_examples=12, stateful_step_count=12)
TestChanging = Changing.TestCase
