"""Whole answers of every profile over two stores: every score, every contribution, every word that comes with them.

Only what users call is used here, so that the package may be rearranged as it likes: what it answers is written down.
`python -m pytest tests/golden` with JUPYTER_MEMORY_GOLDEN=write writes the files anew.
"""

import dataclasses
from typing import Any

import goldens
import pytest

PROFILES = ("auto", "covalence", "vault", "trovella", "memini", "memini-rrf")

# What is asked of the sample archive, and how: words, code, paraphrases, phrases, typed filters, times, mistakes.
OF_SAMPLES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("how did we normalise the prices last month", {}), ("FileSyncService", {}), ("clip_outliers", {}),
    ("customers.merge(installations, on='meter_id')", {}), ("which people are likely to cancel their contract", {}),
    ('"zero mean and unit variance"', {}), ('tag:decision scaling "per zone"', {}),
    ("kind:cell lang:python read_csv -prices", {}),
    ("what did we decide in the first week of August 2026", {}),
    ("forcast of the hourly demnad", {}), ("東京の価格", {}), ("zzyzx quuxly", {}), ("the of and", {}),
    ("what was agreed in session 2", {}),
    ("loss of files", {"tags": ["bug"], "domain": "infrastructure"}),
    ("price", {"filters": {"tier": "file", "not_kind": "cell"}, "since": "2026-08-01", "until": "2026-09-20"}),
    ("parque", {"prefix": True}), ("FileSyncService yesterday", {"time": False}), ("tag:rule", {}),
)  # fmt: skip
# Those that carry most of what a profile can do, asked of the second store as well.
OF_CORPUS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("which stations have the same rhythm", {}), ("haversine_km distance of two places", {}),
    ("demand review", {"since": "2025-01-01", "until": "2025-12-31"}),
    ("what milk does Frau Müller take in her coffee", {}), ("tag:result backtest error with the timetable", {}),
    ("roadmap 1.4", {}), ("model of the Bahnhof", {"filters": {"space": "home"}}), ("what happened last week", {}),
    ("nightly rebalancing with two vans", {}), ("drop_ghst_trips", {}),
)  # fmt: skip
TRACED = ("how did we normalise the prices last month", "clip_outliers", "who decided to drop the weather features")
LIMIT = 4


@pytest.mark.parametrize("profile", PROFILES)
def test_answers(samples, corpus, profile):
    found = {}
    for name, bed, questions in (("samples", samples, OF_SAMPLES), ("corpus", corpus, OF_CORPUS)):
        found[name] = {
            said(query, asked): answered(
                bed, bed.store.hits(query, **{"limit": LIMIT, "now": bed.now, **asked}, profile=profile), profile
            )
            for query, asked in questions
        }
    goldens.check(f"answers/{profile}", found)


@goldens.exact
@pytest.mark.parametrize("profile", ["auto", "memini", "vault"])
def test_lists(samples, profile):
    found = {}
    for query in TRACED:
        trace = samples.store.trace(query, limit=3, profile=profile, now=samples.now)
        lists = {
            name: [[one.rank, samples.names[one.memory_id], one.score] for one in getattr(trace, name)[:40]]
            for name in ("keyword", "vector", "fused")
        }
        begins = [one.begins for one in trace.fused[:5]]
        without = {samples.names[id_]: dict(ranks) for id_, ranks in trace.without.items()}
        found[query] = {**lists, "begins": begins, "without": without}
    goldens.check(f"answers/lists.{profile}", found)


def test_other_answers(samples, corpus):
    """Related memories, lists without a question, other weights, and a limit deeper than the pool."""
    found: dict[str, Any] = {}
    for name in ("Lost files", "notes/glossary.md", "2026-08-05_customer_join.ipynb#"):
        id_ = next(id_ for known, id_ in samples.ids.items() if known.startswith(name))
        related = samples.store.related(id_, limit=3, now=samples.now)
        found[f"related: {samples.names[id_]}"] = answered(samples, related)
    for listed in ({}, {"filters": {"kind": "cell"}}, {"filters": {"tag": "decision"}, "since": "2026-09-01"}):
        shown = samples.store.browsed(limit=4, **listed)
        found[f"browse {listed}"] = answered(samples, shown)
    pooled = samples.store.pooled("which meters are frozen", limit=3, now=samples.now)
    terms = tuple(
        dataclasses.replace(term, weight=term.weight * 3) if term.name == "keyword" else term
        for term in pooled.profile.terms
    )
    found["pooled"] = answered(samples, pooled.answer)
    found["weighed"] = answered(samples, pooled.weighed(pooled.profile.replace(name="heavier", terms=terms)))
    found["deep"] = answered(corpus, corpus.store.hits("stations", limit=200, now=corpus.now))
    goldens.check("answers/other", found)


@pytest.mark.parametrize("profile", ["auto", "vault"])
def test_answers_by_words_alone(words_alone, profile):
    found = {
        said(query, asked): answered(
            words_alone, words_alone.store.hits(query, limit=2, now=words_alone.now, profile=profile, **asked)
        )
        for query, asked in OF_CORPUS[:5]
    }
    goldens.check(f"answers/words.{profile}", found)


@goldens.exact
def test_ranks_of_the_pool(samples):
    pooled = samples.store.pooled("which meters are frozen", limit=3, now=samples.now)
    ranks = pooled.ranks(pooled.profile)
    goldens.check(
        "answers/ranks", {samples.names[id_]: rank for id_, rank in sorted(ranks.items(), key=lambda one: one[1])}
    )


def test_reasons(samples):
    """The reasons for a place, in words, are the golden ones: of a hit, of one far down, of one that is not found."""
    found = {}
    for profile in PROFILES:
        for query in TRACED[:2]:
            for name in ("Scaling, agreed", "notes/glossary.md", "old/glossary.md", "東京の価格"):
                why = samples.store.explain(query, samples.ids[name], profile=profile, now=samples.now, limit=5)
                reasons = [samples.plain(reason) for reason in why.reasons]
                found[f"{profile}: {query}: {name}"] = {"rank": why.rank, "reasons": reasons}
    away = samples.store.explain("prices", samples.ids["東京の価格"], filters={"kind": "cell"}, now=samples.now)
    found["filtered away"] = {"rank": away.rank, "reasons": [samples.plain(reason) for reason in away.reasons]}
    goldens.check("answers/reasons", found)


def test_frames(samples):
    found: dict[str, Any] = {}
    for profile in PROFILES:
        frame = samples.store.search("normalise prices", profile=profile, limit=2, now=samples.now)
        found[profile] = {name: str(kind) for name, kind in frame.dtypes.items()}
    scan = samples.store.search("normalise prices", mode="scan", limit=4, now=samples.now)
    found["scan"] = [
        {name: samples.names[value] if name == "memory_id" else plain(samples, value) for name, value in row.items()}
        for row in scan.to_dict("records")
    ]
    attrs = scan.attrs["memsearch"]
    found["attrs"] = {
        name: samples.plain(str(of)) for name, of in attrs.items() if name not in ("elapsed_ms", "query_id")
    }
    goldens.check("answers/frames", found)


def said(query: str, asked: dict[str, Any]) -> str:
    return f"{query} {asked}" if asked else query


def answered(bed: Any, answer: Any, profile: str = "") -> dict[str, Any]:
    plain_answer = answer.to_json()
    return {
        **{
            name: plain(bed, plain_answer[name])
            for name in ("verdict", "query_class", "time_range", "counts", "notices")
        },
        "strength": answer.strength if answer.strength == answer.strength else None,
        "facets": {name: dict(of) for name, of in answer.facets.items()} if profile in ("", "auto") else {},
        "profile": answer.profile,
        "terms": list(answer.terms),
        "judges": list(answer.judges),
        "hits": [hit_of(bed, hit) for hit in answer.hits[:LIMIT]],
        "more": [[bed.names[hit.memory.id], hit.score] for hit in answer.hits[LIMIT:]],
    }


def hit_of(bed: Any, hit: Any) -> dict[str, Any]:
    shown = hit.to_json()
    of_memory = ("memory_id", "title", "kind", "tier", "source", "tags", "event_at", "signals")
    return {
        "memory": bed.names[hit.memory.id],
        **{name: plain(bed, value) for name, value in shown.items() if name not in of_memory},
        "context": hit.context,
        "signals": {name: [of["value"], of["rank"], of["contribution"]] for name, of in shown["signals"].items()},
    }


def plain(bed: Any, value: Any) -> Any:
    if isinstance(value, str):
        return bed.plain(value)
    if isinstance(value, list | tuple):
        return [plain(bed, one) for one in value]
    return {name: plain(bed, one) for name, one in value.items()} if isinstance(value, dict) else value
