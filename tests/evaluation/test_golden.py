"""A person's own golden set: kept privately, read again exactly, and measured by the path of any other search."""

import os
import stat
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory import InputError, JupyterMemory, StoreError, StoreLocked
from jupyter_memory import evaluation as golden
from jupyter_memory.search import PROFILES, covalence
from jupyter_memory.types import Filters

QUESTIONS = ("how were the prices scaled", "λ of the Poisson model", "why are deliveries late")


@pytest.fixture
def path(week_store):
    return golden.golden_file(JupyterMemory(path=str(week_store.path)))


@pytest.fixture
def kept(week_store, path, now):
    """The golden set of the week: three questions, each with its first hit."""
    for question in QUESTIONS:
        golden.add(path, week_store.hits(question, now=now), [1])
    return golden.load(path)


def test_it_lies_beside_the_store_for_its_owner_alone(week_store, path, kept, now):
    """The file has the store's name and is closed to everybody else; no word of an answer is in it."""
    assert path.name == "memory.golden.jsonl" and path.parent == week_store.path.parent
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 or os.name == "nt"
    assert "zero mean" not in path.read_text(encoding="utf-8")
    assert [one.text for one in kept] == list(QUESTIONS)
    assert list(path.parent.glob("*.golden.jsonl.*")) == []
    # A question is kept once, whatever is added to it; with other filters it is another one.
    again = golden.add(path, week_store.hits(QUESTIONS[0], now=now), [2])
    filtered = golden.add(path, week_store.hits(QUESTIONS[0], now=now, filters={"tag": "prices"}), [1])
    assert len(again.right) == 2 and again.id == kept[0].id != filtered.id and len(golden.load(path)) == 4


def test_mistakes(week_store, path, kept, now):
    """A rank that is not there, a list without a question and an unknown id change nothing."""
    with pytest.raises(InputError, match="there is no rank 99"):
        golden.add(path, week_store.hits("λ", now=now), [1, 99])
    with pytest.raises(InputError, match="without a question"):
        golden.add(path, week_store.browsed(), [1])
    with pytest.raises(InputError, match="no question zzzzzz"):
        golden.forget(path, [kept[0].id, "zzzzzz"])
    assert golden.load(path) == kept
    path.write_text("{}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"golden\.jsonl, line 1, is not a question"):
        golden.load(path)


def test_forgetting(week_store, path, kept):
    """Questions go by their ids, and with the last one the file goes."""
    assert golden.forget(path, [kept[1].id]) == 1
    assert [one.text for one in golden.load(path)] == [QUESTIONS[0], QUESTIONS[2]]
    assert golden.forget(path, [kept[0].id, kept[2].id]) == 2
    assert not path.exists() and golden.load(path) == []


TIMES = st.datetimes(datetime(2000, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))
TEXTS = st.tuples(st.text(min_size=1, max_size=8))
FILTERS = st.builds(Filters, tag=TEXTS, not_kind=TEXTS, since=TIMES | st.none(), also=st.builds(Filters, path=TEXTS))


@pytest.fixture(scope="module")
def answer(busy):
    busy.add("λ")
    return busy.hits("λ")


@given(st.text(min_size=1), TIMES, FILTERS)
def test_any_question_is_read_as_it_was_kept(tmp_path_factory, answer, text, now, filters):
    path = tmp_path_factory.mktemp("golden") / "memory.golden.jsonl"
    asked = replace(answer.query, text=text, now=now, filters=filters, tags=("ü",), domain="λ")
    kept = golden.add(path, replace(answer, query=asked), [1])
    assert golden.load(path) == [kept]
    assert (kept.text, kept.now, kept.filters, kept.tags, kept.domain) == (text, now, filters, ("ü",), "λ")


def test_profiles_are_compared(week_store, kept):
    """A row a profile, with shares of one, one upside down worse; another length is tried on a copy that goes."""
    found = golden.run(week_store, kept, PROFILES)
    assert [row.profile for row in found.rows] == list(PROFILES) and all(row.queries == 3 for row in found.rows)
    assert found.rows[0].metrics["success@1"] == 1.0 and found.model == "static 256"
    assert [sum(shares.values()) for shares in found.shares.values()] == pytest.approx([1.0] * len(found.shares))
    upside_down = tuple(replace(term, weight=-term.weight) for term in covalence.terms)
    assert golden.score(week_store, kept, covalence) == 1.0
    assert golden.score(week_store, kept, covalence.replace(name="worse", terms=upside_down)) < 0.9
    with golden.other_model(week_store, "static", 64, JupyterMemory()) as other:
        found = golden.run(other, kept, {"auto": PROFILES["auto"]})
        copy = other.path
    assert found.model == "static 64"
    assert not copy.exists()
    assert [one["dimensions"] for one in week_store.stats()["models"]] == [256]


def test_judging(week_store, path, kept, now):
    """The last verdict on an answer counts; who should be the first counts twice, and what is wrong not at all."""
    answer = week_store.hits(QUESTIONS[0], now=now)
    first, second, third = (hit.memory for hit in answer.hits[:3])
    asked = golden.asked(answer.query)
    golden.judge(path, asked, [second, third], "right")
    judged = golden.judge(path, asked, [second], "first")
    assert judged.grades == {first.id: 1.0, second.id: 2.0, third.id: 1.0}
    assert golden.score(week_store, [judged], covalence) < golden.score(week_store, kept[:1], covalence) == 1.0
    judged = golden.judge(path, asked, [second, third], "wrong")
    assert (list(judged.right), list(judged.wrong), judged.first) == ([first.id], [second.id, third.id], "")
    assert judged in golden.load(path) and len(golden.load(path)) == 3
    golden.judge(path, golden.asked(week_store.hits("zebra", now=now).query), [first], "wrong")
    assert [one.text for one in golden.answerable(week_store, golden.load(path))[0]] == [*QUESTIONS[1:], QUESTIONS[0]]


def test_two_programs_judge_at_once(week_store, path, now):
    """Each rating of each program is kept: none writes what it read before another wrote."""
    hit = week_store.hits(QUESTIONS[0], now=now).hits[0]
    program = f"""
import sys
from datetime import UTC, datetime
from pathlib import Path
from jupyter_memory import MemoryStore, evaluation as golden
with MemoryStore({str(week_store.path)!r}, read_only=True) as store:
    memory = store.get({hit.memory.id!r})
print("ready", flush=True)
sys.stdin.readline()
for number in range(150):
    asked = golden.GoldenQuestion(f"{{sys.argv[1]}} {{number}}", datetime.now(UTC), {{}})
    golden.judge(Path({str(path)!r}), asked, [memory], "right")
"""
    command = [sys.executable, "-c", program]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    programs = [subprocess.Popen([*command, name], **pipes) for name in ("panel", "kernel")]
    assert [one.stdout.readline() for one in programs] == ["ready\n", "ready\n"]
    for one in programs:
        one.stdin.write("\n")
        one.stdin.flush()
    assert [one.wait() for one in programs] == [0, 0]
    kept = {one.text for one in golden.load(path)}
    assert kept == {f"{name} {number}" for name in ("panel", "kernel") for number in range(150)}


def test_taking_back(week_store, path, kept, now):
    """What was said of an answer goes, whatever the filters of its question, which goes with its last answer."""
    written = f"tag:prices {QUESTIONS[0]}"
    answer = week_store.hits(written, now=now)
    first, second = (hit.memory for hit in week_store.hits(QUESTIONS[0], now=now).hits[:2])
    golden.judge(path, golden.asked(answer.query), [first], "wrong")
    golden.judge(path, kept[0], [second], "first")
    week_store.feedback(first.id, False, query=written)
    week_store.feedback(second.id, True, query=QUESTIONS[0])
    both = golden.load(path)
    # Only what was said is taken back, and nothing of it before the golden set was read.
    assert golden.take_back(path, week_store, first.id, written, accepted=True) == ""
    path.write_text(path.read_text("utf-8") + "{\n", "utf-8")
    with pytest.raises(InputError, match="is not a question"):
        golden.take_back(path, week_store, first.id, written)
    path.write_text(path.read_text("utf-8").removesuffix("{\n"), "utf-8")
    assert golden.load(path) == both and len(week_store.feedbacks()) == 2
    assert golden.take_back(path, week_store, first.id, written) == "judgement"
    right = {**kept[0].right, second.id: second.content_hash}  # the other verdict is not what was said
    assert golden.load(path) == [*kept[1:], replace(kept[0], right=right, first=second.id)]
    golden.take_back(path, week_store, second.id, QUESTIONS[0])
    assert golden.load(path) == [*kept[1:], kept[0]] and week_store.feedbacks() == []
    week_store.feedback(first.id, True, query=QUESTIONS[0])
    golden.take_back(path, week_store, first.id, QUESTIONS[0])
    assert golden.load(path) == kept[1:]
    # What `%memeval add` keeps stays where a rating of a search in a notebook or terminal goes.
    golden.judge(path, kept[0], [second], "right")
    answer = week_store.hits(QUESTIONS[0], now=now)
    week_store.note_search(answer, "magic")
    week_store.feedback(second.id, True, query_id=answer.query_id, query=QUESTIONS[0])
    assert golden.take_back(path, week_store, second.id, QUESTIONS[0]) == "rating"
    assert second.id in golden.load(path)[-1].right
    # So it does where that search was forgotten since, or the panel asked the same.
    week_store.feedback(second.id, True, query_id=answer.query_id, query=QUESTIONS[0])
    week_store.note_search(week_store.hits(QUESTIONS[0], now=now), "panel")
    assert golden.take_back(path, week_store, second.id, QUESTIONS[0], answer.query_id, True) == "rating"
    assert second.id in golden.load(path)[-1].right
    golden.forget(path, [kept[0].id])
    assert golden.take_back(path, week_store, second.id, "never asked") == ""
    assert golden.load(path) == kept[1:]


def test_a_time_that_is_not_read(week_store, path, now):
    """A question whose time was ignored is another one than with its time, measured so, and is taken back alike."""
    asked = "prices last month"
    with_time, without = (golden.add(path, week_store.hits(asked, now=now, time=time), [1]) for time in (True, False))
    assert with_time.id != without.id and golden.load(path) == [with_time, without]
    assert [line.count('"time": false') for line in path.read_text("utf-8").splitlines()] == [0, 1]
    read = [week_store.hits(asked, **one.options(covalence)).query.temporal for one in (with_time, without)]
    assert read[0] is not None and read[1] is None
    asked = "what did we do yesterday"
    [hit, *_] = week_store.hits(asked, now=now, time=False).hits
    golden.judge(path, golden.asked(week_store.hits(asked, now=now, time=False).query), [hit.memory], "right")
    week_store.feedback(hit.memory.id, True, query=asked)
    assert golden.take_back(path, week_store, hit.memory.id, asked) == "judgement"
    assert golden.load(path) == [with_time, without]


def test_a_set_that_cannot_be_written(week_store, path, kept, monkeypatch):
    """Another program that judges for long, or a folder that is read-only, is an error with what to do."""
    lock = path.with_name(f".{path.stem}.lock")
    monkeypatch.setattr(sys.modules[golden.forget.__module__], "_PATIENCE", 0.01)
    with FileLock(lock), pytest.raises(StoreLocked, match="Another program is judging"):
        golden.forget(path, [kept[0].id])
    for taken in (path.with_name(f".{path.name}.{os.getpid()}"), lock):
        lock.unlink(missing_ok=True)
        taken.mkdir()
        with pytest.raises(StoreError, match=r"golden.* cannot be written: .* another store: JUPYTER_MEMORY_PATH"):
            golden.forget(path, [kept[0].id])
        taken.rmdir()


def test_the_pool_is_what_nobody_judged(week_store, path, kept, now):
    """What any profile shows for questions kept or answered with a thumb; a row keeps its name until it is judged."""
    profiles = {name: PROFILES[name] for name in ("auto", "vault")}
    seen = [hit.memory for hit in week_store.hits("left join", now=now).hits]
    week_store.feedback(seen[0].id, False, query="left join")

    def pool(**said):
        return golden.pool(week_store, path, profiles, said).splitlines()

    head, *rows = pool()
    assert head.split()[:2] == ["row", "question"] and any("vault 2" in row and "auto" not in row for row in rows)
    assert "Scaling the prices" not in "".join(row for row in rows if QUESTIONS[0] in row)  # judged before
    assert seen[0].title not in "".join(row for row in rows if "left join" in row)
    names = [row.split()[0] for row in rows]
    with pytest.raises(InputError, match="no row zzzzzz"):
        pool(right=[names[0], "zzzzzz"])
    said = pool(right=[names[0]], wrong=names[1:3], first=[names[-1]])
    assert [line.partition(":")[0] for line in said[:4]] == ["right", "wrong", "wrong", "first"]
    assert [line.split()[0] for line in said[5:]] == names[3:-1]
    assert golden.load(path)[-1].text == "left join" and golden.load(path)[-1].first
    with pytest.raises(InputError, match="one verdict"):
        pool(right=[names[3]], wrong=[names[3]])
    assert pool(wrong=names[3:-1])[-1] == "Nothing is left to judge."


def test_tuning(week_store, kept, now):
    """One weight changes as little as lifts what stands too low; what lowers another answer, or nothing, is refused."""
    auto, answer = PROFILES["auto"], week_store.hits("prices in the model", now=now)
    of_scaling = week_store.hits(QUESTIONS[0], now=now)
    second = answer.hits[1].memory
    low = replace(golden.asked(answer.query), right={second.id: second.content_hash})
    tuned, said = golden.tune(week_store, [*kept, low], auto)
    assert [one.name for one, was in zip(tuned.terms, auto.terms, strict=True) if one != was] == ["max_sim"]
    before, after = (golden.score(week_store, [*kept, low], one) for one in (auto, tuned))
    assert f"{before:.3f} before, {after:.3f} after, 0 questions worse" in said and after == 1.0
    with pytest.raises(InputError, match="at the top"):
        golden.tune(week_store, [*kept, low], tuned)
    first = answer.hits[0].memory
    against = [replace(low, right={first.id: first.content_hash}, tags=(tag,)) for tag in "ab"]
    with pytest.raises(InputError, match="makes another worse, so none is proposed"):
        golden.tune(week_store, [low, *against], auto)
    # The next change begins where the last one ended, until none lifts an answer without lowering another.
    thirds = [replace(golden.asked(one.query), right={one.hits[2].memory.id: ""}) for one in (answer, of_scaling)]
    tuned, said = golden.tune(week_store, thirds, auto)
    assert [line.split(" weight ")[1].split()[0] for line in said.splitlines()] == ["max_sim", "length_penalty"]
    assert all(line.endswith("0 questions worse.") for line in said.splitlines())
    assert said.split(" after")[0].split()[-1] == said.splitlines()[1].split(" before")[0].split()[-1]
    assert {one.name for one, was in zip(tuned.terms, auto.terms, strict=True) if one != was} == {
        "max_sim",
        "length_penalty",
    }
    words = covalence.replace(terms=covalence.terms[1:2])
    with pytest.raises(InputError, match="No change of one weight"):
        golden.tune(week_store, [low, *kept], words)
    with pytest.raises(InputError, match="no right answers yet"):
        golden.tune(week_store, [], auto)


def test_an_answer_that_was_stored_anew_is_known_by_its_content(week_store, kept, week, now):
    old = next(iter(kept[0].right))
    record = next(one for one in week if one["title"] == "Scaling the prices")
    week_store.forget(old)
    new = week_store.add(**record)
    assert new.id != old
    assert golden.score(week_store, kept[:1], covalence) == 1.0


def test_answers_that_are_no_longer_here(week_store, kept, week):
    """What is left of a question's right answers is what it asks for; one whose content came back is there."""
    several = golden.GoldenQuestion(kept[0].text, kept[0].now, {**kept[0].right, **kept[1].right, "0" * 16: "0" * 32})
    left, lost = golden.answerable(week_store, [several, kept[2]])
    assert [dict(one.right) for one in left] == [{**kept[0].right, **kept[1].right}, kept[2].right] and lost == []
    week_store.forget([*kept[0].right, *kept[2].right])
    left, lost = golden.answerable(week_store, [several, kept[2]])
    assert [dict(one.right) for one in left] == [kept[1].right] and lost == [kept[2]]
    week_store.add_many(week, progress=False)
    assert golden.answerable(week_store, [several, kept[2]])[1] == []
