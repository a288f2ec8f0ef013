"""What tests of a store ask it and read from it."""

# The terms of the profile auto, in its order.
AUTO_TERMS = (
    "keyword", "semantic_margin", "max_sim", "neighbour", "session", "question_penalty", "length_penalty", "own_words",
    "best_passage", "time", "title", "title_match", "defines", "file_stem", "defined_names", "aside", "tier", "recency",
)  # fmt: skip
# What the fixture ``found`` has asked the week.
JOINING = "join the orders on λ, with prices by shop and customer"


def titles(found):
    return [hit.memory.title for hit in found.hits] if hasattr(found, "hits") else found["title"].tolist()


def words_of_the_index(store):
    stats = store.stats()
    return stats["chunks"], sum(model["vectors"] for model in stats["models"])


def dtypes(frame):
    return [(name, str(dtype)) for name, dtype in frame.dtypes.items()]


def worded(count, cosine=0.0, **more):
    return {"text": f"{'prices ' * count}{'other ' * (9 - count)}λ cos={cosine:.6f}", **more}
