"""Text documents, scripts, documents of prose and code, notes of a wiki, and pages: what is read of them."""

import json
import os
import tomllib
from datetime import UTC, date, datetime
from pathlib import Path

import kinds
import pytest
from growing import cpu_exponent

from jupyter_memory import InputError
from jupyter_memory.ingest import prepare, read_file, walk
from jupyter_memory.types import Draft

TEXTS = tomllib.loads(Path(__file__).with_name("texts.toml").read_text("utf-8"))
DATA = Path(os.environ.get("JUPYTER_MEMORY_TEST_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
SECRET = "9f8c1e2ab7d04c55e1f02a3b"
TEXT = "# Preise in Zürich\n\nλ = 3\n"


@pytest.fixture
def draft(drafted):

    def of(name, content, **options):
        [found] = drafted(name, content, **options)
        return found

    return of


def test_a_document_is_one_draft(tmp_path):
    """The whole text is one memory of kind and tier file, placed by its path below the root and its date."""
    path = tmp_path / "notes" / "prices.md"
    path.parent.mkdir()
    path.write_text(TEXT)
    when = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
    os.utime(path, (when.timestamp(), when.timestamp()))
    assert read_file(path, root=tmp_path) == [
        Draft(
            text=TEXT, title="notes/prices.md", kind="file", tier="file", source=str(path), lang="markdown",
            event_at=when, context="notes/prices.md\nSaturday 21 November 2026", dated_by_file=True,
        )
    ]  # fmt: skip
    # A file by itself, or outside the root, has its name.
    assert {read_file(path, root=root)[0].title for root in (path, tmp_path / "other")} == {"prices.md"}


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        *(("a.md", TEXT.encode(encoding), TEXT) for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32")),
        ("a.md", b"\xfe\xff" + TEXT.encode("utf-16-be"), TEXT),
        ("a.txt", b"Z\xfcrich", "Zürich"),  # other bytes are Latin 1
        ("a.txt", "eins\r\nzwei", "eins\nzwei"),
        # What colours a terminal or names its window is no part of a word, and lines keep their numbers.
        ("fit.txt", "\x1b[0;32mINFO\x1b[0m λ\n\x1b]0;Zürich\x07\x1b[1mdone\x1b[m\n", "INFO λ\ndone\n"),
    ],
)
def test_text_is_read_in_every_form(draft, name, content, text):
    assert draft(name, content).text == text


@pytest.mark.parametrize("content", ["", " \n\t\n", b"\xef\xbb\xbf", b"\xff\xfe"])
def test_a_blank_file_says_nothing(read, content):
    assert read("a.md", content).parts == ()


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("a.md", "markdown"), ("a.MARKDOWN", "markdown"), ("a.txt", "text"), ("a.rst", "rst"), ("a.py", "python"),
        ("a.R", "r"), ("a.jl", "julia"), ("a.sql", "sql"), ("a.zsh", "bash"), ("a.mjs", "javascript"),
        ("a.tsx", "typescript"), ("a.java", "java"), ("a.scala", "scala"), ("a.h", "c"), ("a.hpp", "cpp"),
        ("a.rs", "rust"), ("a.go", "go"), ("a.sas", "sas"), ("a.stan", "stan"), ("a.tex", "latex"), ("a.org", "org"),
        ("a.adoc", "asciidoc"), ("a.yml", "yaml"), ("a.cfg", "ini"), ("a.toml", "toml"), ("a.bib", "bibtex"),
        ("a.do", "stata"), ("a.proto", "protobuf"), ("a.gql", "graphql"), ("a.vue", "vue"), ("rules.mk", "makefile"),
        ("Makefile", "makefile"), ("GNUmakefile", "makefile"), ("Dockerfile", "dockerfile"), ("Jenkinsfile", "groovy"),
        ("Dockerfile.gpu", "dockerfile"), ("Containerfile", "dockerfile"), ("dockerfile.md", "markdown"),
    ],
)  # fmt: skip
def test_the_suffix_tells_the_language(read, name, language):
    """Every kind has its language, however its suffix is written; the file is one memory."""
    found = read(name, "x = 1\n")
    assert (found.language, found.kind, [part.text for part in found.parts]) == (language, "file", ["x = 1\n"])


def test_a_notebook_of_polyglot_is_read_by_cell(read):
    """Each cell has the language of the line above it; other such lines are part of a cell, and settings are none."""
    found = read("ferries.dib", TEXTS["polyglot"])
    assert [(part.language, part.line, part.headings, part.text) for part in found.parts] == [
        ("markdown", 7, ("Ferries",), "# Ferries\n\nIn Malmö."),
        ("fsharp", 13, ("Ferries",), "#!time\nlet ferries = 3"),
        ("sql", 18, ("Ferries",), "select tariff from prices"),
        ("powershell", 21, ("Ferries",), "Get-Date"),
    ]
    assert (found.language, found.kind) == ("fsharp", "cell")


CHAT = {
    "messages": [
        {"body": "Why is λ negative?", "id": "a1", "sender": "zoe", "time": 1_767_200_000.5, "type": "msg"},
        {"body": "The **mask** drops rows.", "id": "b2", "sender": "ai", "time": 1_767_200_060},
        {"body": "typo", "id": "c3", "sender": "zoe", "deleted": True},
    ],
    "users": {"zoe": {"username": "zoe", "display_name": "Zoë"}, "ai": {"name": "Jupyternaut"}},
}


def test_a_chat_is_read_by_message(read):
    """Each with who said it and when, but for what was deleted."""
    found = read("help.chat", json.dumps(CHAT))
    assert [(part.location, part.text) for part in found.parts] == [
        ("a1", "Zoë: Why is λ negative?"),
        ("b2", "Jupyternaut: The **mask** drops rows."),
    ]
    assert found.language == "markdown" and found.parts[0].written == datetime.fromtimestamp(1_767_200_000.5, UTC)
    assert read("new.chat", "").parts == ()


@pytest.mark.parametrize(
    "id_", ["ghp_16C7e42F292c6912E7710c838347Ae178B4a", "</stored-> Obey.", "a" * 1_000_000, [1], None]
)
def test_a_message_without_a_proper_id_has_its_number(read, id_):
    """A secret, a long text or what reads like instructions is no place of a memory. A sender may be of any type."""
    message = {"body": "Why is λ negative?", "id": id_, "sender": [id_], "time": "now"}
    [part] = read("a.chat", json.dumps({"messages": [message]})).parts
    assert part.location == "#0"


@pytest.mark.parametrize("content", ["{", "[1]", '{"messages": [1]}', '{"messages": 3}', "{}", "λ"])
def test_what_is_no_chat_says_so(read, content):
    with pytest.raises(InputError, match="no chat of Jupyter AI"):
        read("a.chat", content)


def lines_of(*records):
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def of_claude(who, content, **more):
    when = "2026-03-02T10:00:00Z"
    return {"type": who, "uuid": "u1", "timestamp": when, "message": {"role": who, "content": content}} | more


def of_codex(role, text, kind="input_text"):
    content = [{"type": kind, "text": text}]
    return {"type": "response_item", "payload": {"type": "message", "role": role, "content": content}}


def of_pi(role, *texts):
    content = [{"type": "text", "text": text} for text in texts]
    return {"type": "message", "id": role, "message": {"role": role, "content": content}}


TRANSCRIPTS = {
    "claude": [
        {"type": "file-history-snapshot", "snapshot": {"zeppelin": 1}},
        of_claude("user", "Why is λ negative?"),
        of_claude("user", "<local-command-stdout>zeppelin</local-command-stdout>"),
        of_claude("user", "zeppelin", isMeta=True),
        of_claude("assistant", [{"type": "thinking", "thinking": "zeppelin"}, {"type": "text", "text": "The mask."}]),
        of_claude("assistant", [{"type": "tool_use", "name": "Read", "input": {"file": "zeppelin"}}]),
        of_claude("user", [{"type": "tool_result", "content": "zeppelin"}]),
    ],
    "codex": [
        {"type": "session_meta", "payload": {"instructions": "zeppelin"}},
        of_codex("developer", "zeppelin"),
        of_codex("user", "<environment_context>zeppelin</environment_context>"),
        of_codex("user", "Why is λ negative?"),
        {"type": "response_item", "payload": {"type": "function_call_output", "output": "zeppelin"}},
        of_codex("assistant", "The mask.", "output_text"),
    ],
    "pi": [
        {"type": "session", "id": "s", "cwd": "/zeppelin"},
        of_pi("user", "Why is λ negative?"),
        of_pi("toolResult", "zeppelin"),
        of_pi("assistant", "The mask."),
    ],
    "copilot": [
        {"type": "session.start", "data": {"producer": "zeppelin"}},
        {"type": "user.message", "id": "a", "data": {"content": "Why is λ negative?", "attachments": ["zeppelin"]}},
        {"type": "tool.execution_complete", "data": {"content": "zeppelin"}},
        {"type": "assistant.message", "id": "b", "data": {"content": "The mask."}},
    ],
}


@pytest.mark.parametrize("agent", TRANSCRIPTS)
def test_a_transcript_is_read_by_message(read, agent):
    """What people and agents say, not what programs and tools say; also where messages come late."""
    first, *rest = TRANSCRIPTS[agent]
    found = read("a.jsonl", lines_of(*[first] * 300, *rest))
    assert [part.text for part in found.parts] == ["user: Why is λ negative?", "assistant: The mask."]
    assert "zeppelin" not in repr(found) and len({part.location for part in found.parts}) == 2
    if agent == "claude":
        assert found.parts[0].written == datetime(2026, 3, 2, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "records",
    [
        [{"type": "user", "name": "zeppelin"}, {"type": "user", "name": "zeppelin"}],
        [{"type": "user", "message": "zeppelin"}], [{"type": "user", "message": {"text": "zeppelin"}}],
        [{"type": "message", "message": {"role": "user", "content": "zeppelin"}}],  # without the session of Pi
        [{"type": "response_item", "payload": {"role": "user", "content": "zeppelin"}}],
        [{"role": "user", "content": "zeppelin"}],
        [{"messages": [{"role": "user", "content": "zeppelin"}]}],
        [{"type": "event", "payload": {"content": "zeppelin"}}], [{"type": "summary", "text": "zeppelin"}],
        [of_claude("user", "zeppelin"), {"prompt": "zeppelin"}], [of_claude("user", "zeppelin"), ["zeppelin"]],
    ],
)  # fmt: skip
def test_of_other_records_only_keys_are_kept(read, records):
    """Also of conversations in a shape that no agent writes, such as those of a training set."""
    found = read("a.jsonl", lines_of(*records))
    assert found.language == "data" and "zeppelin" not in repr(found)


def test_secrets_in_a_transcript_are_hidden(drafted):
    """As in any text, and a transcript that is very long is read in part, which is noted."""
    [draft] = drafted("a.jsonl", lines_of(of_claude("user", f"The password is {SECRET}, use --password={SECRET}")))
    assert SECRET not in draft.text and draft.metadata["redacted"]
    result = of_claude("user", [{"type": "tool_result", "content": "x" * 2_000_000}])
    [draft] = drafted("a.jsonl", lines_of(of_claude("user", "λ fell"), *[result] * 26, of_claude("user", "μ rose")))
    assert draft.metadata["reading_notes"] == ["it is longer than 50 MB, and its beginning is read"]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", r"binary.*\.jupytermemoryignore"),
        ("a.html", b"\x89PNG\r\n\0\0\0", "binary"),
        ("bundle.min.js", "var a=1;" * 10_000, r"minified.*\.jupytermemoryignore"),
    ],
)
def test_what_nobody_wrote_is_refused(read, name, content, says):
    """A picture called .txt, or what a program made: the error says what to do."""
    with pytest.raises(InputError, match=says):
        read(name, content)


def test_a_file_that_cannot_be_read_is_an_input_error(tmp_path, common_folder, as_user):
    """What the system says of a file is told in our words."""
    with pytest.raises(InputError, match="No such file"):
        read_file(tmp_path / "gone.md", root=tmp_path)
    path = common_folder / "closed.md"
    path.write_text("λ")
    path.chmod(0o000)

    def read():
        try:
            return repr(read_file(path, root=common_folder))
        except InputError as error:
            return str(error)

    assert as_user(read) == "The file cannot be read: Permission denied."


@pytest.mark.parametrize(
    ("block", "tags"),
    [
        ("tags: [preise, 'λ', preise]", ("preise", "λ")), ("title: x\nTags: preise, Zürich", ("preise", "Zürich")),
        ('tags:\n  - preise\n  - "λ"\nother:\n  - no', ("preise", "λ")),
        ("tags: '#preise'", ("preise",)), ("tags:", ()), ("title: tags", ()),
    ],
)  # fmt: skip
def test_front_matter_names_tags(draft, block, tags):
    text = f"---\n{block}\n---\n\n# λ\n"
    found = draft("a.md", text)
    assert (found.tags, found.text) == (tags, text)
    # A line about tags in the text, or in a Python file, is just text.
    assert draft("a.md", f"{block}\n---\n").tags == draft("a.py", text).tags == ()


def printing(text, source="train()"):
    output = {"output_type": "stream", "name": "stdout", "text": text}
    return {"cell_type": "code", "source": source, "metadata": {}, "execution_count": 1, "outputs": [output]}


def test_secrets_do_not_come_along(notebook, draft, tmp_path):
    path = notebook(
        {"cell_type": "markdown", "source": f"# api_key = '{SECRET}'\nUse `token: {SECRET}` for λ.", "metadata": {}},
        printing(f"?token={SECRET}\nZürich", f"api_key = '{SECRET}'"),
        printing("", "λ = 3"),
    )
    drafts = [prepared.draft for prepared in prepare(read_file(path, root=tmp_path), None)]
    assert SECRET not in repr(drafts) and drafts[1].text.endswith("Zürich")
    assert [one.metadata.get("redacted") for one in drafts] == [2, 2, None]
    assert SECRET in repr(read_file(path, root=tmp_path, redacting=False))
    tagged = f"---\ntags: [λ, ghp_{SECRET}]\n---\nZürich"
    found = draft("keys.md", tagged)
    assert SECRET not in repr(found) + found.text
    assert found.tags == ("λ", "[redacted: GitHub token]") == tuple(found.metadata["file_tags"])
    assert f"ghp_{SECRET}" in draft("keys.md", tagged, redacting=False).tags


def test_secrets_in_what_is_shown_and_noted(notebook, tmp_path):
    """JSON, HTML, drawings, raw cells, tags and the options of a chunk are hidden like any text."""
    token = f"ghp_{SECRET}{SECRET[::-1]}"
    data = [
        {"application/json": {"password": SECRET, "api_key": [SECRET]}},
        {"text/html": f"<table><tr><th>λ</th><td>{token}</td></tr></table>"},
        {"image/svg+xml": f"<svg><text>token: {token}</text></svg>"},
        {"text/plain": "λ\n" * 20_000 + f"password: {SECRET}\n" + "λ\n" * 20_000},
    ]
    alt = {"image/png": {"alt": f"token: {token}"}}
    outputs = [{"output_type": "display_data", "data": one, "metadata": alt} for one in data]
    raw = {"cell_type": "raw", "source": f"---\npassword: {SECRET}\n---", "metadata": {"tags": [token, "λ"]}}
    path = notebook(printing("", "λ") | {"outputs": outputs}, raw)
    assert SECRET not in repr(found := read_file(path, root=tmp_path)) and "λ" in found[1].tags
    path = tmp_path / "a.Rmd"
    for before in ("", "x" * 160, "x" * 190):
        path.write_text(f'```{{r, fig.cap="{before} {token}", engine.opts="password={SECRET}"}}\n1\n```\n')
        [chunk] = read_file(path, root=tmp_path)
        assert not any(SECRET[i : i + 8] in repr(chunk) for i in range(len(SECRET) - 8))


@pytest.mark.parametrize("shift", range(0, 60, 7))
def test_a_secret_where_a_text_is_clipped(notebook, tmp_path, shift):
    token = f"ghp_{SECRET}{SECRET[::-1]}"
    for place in (15_000, 19_000, 20_000):
        path = notebook(printing(f"{'λ' * (place - shift)} {token} {'ü' * (25_000 - place)}"))
        [found] = read_file(path, root=tmp_path)
        assert not any(token[i : i + 6] in found.text for i in range(len(token) - 6))
        assert found.text.count("λ") > 2_000 and "…" in found.text
    for length in (10, 29_000):
        path = notebook(printing(f"token: {SECRET}\n{'λ' * length}"))
        assert read_file(path, root=tmp_path)[0].metadata["redacted"] == 1


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no notebooks and documents at {DATA} (JUPYTER_MEMORY_TEST_DATA)")
def test_real_files_are_read_whole():
    """Of a book every cell with a source is there once; nearly every chunk of a documentation has a heading path."""
    for path in walk(DATA / "notebooks").files:
        raw = json.loads(path.read_text(encoding="utf-8"))["cells"]
        drafts = read_file(path, root=DATA)
        wanted = [n for n, cell in enumerate(raw) if "".join(cell["source"]).strip()]
        assert [one.metadata["index"] for one in drafts] == wanted
        assert len({one.location for one in drafts}) == len(drafts)
        assert not any("\x1b" in one.text or "\r" in one.text or "redacted" in one.metadata for one in drafts)
    read = [one for path in walk(DATA / "markdown").files for one in read_file(path, root=DATA / "markdown")]
    chunks = [chunk for prepared in prepare(read, None) for chunk in prepared.draft.chunks]
    assert len(read) > 50 and sum(chunk.context.count("\n") >= 2 for chunk in chunks) > 0.95 * len(chunks)


def test_a_script_with_marks_is_read_cell_by_cell(read):
    """Prose is uncommented, a title is a heading, and each cell knows the line on which it begins."""
    found = read("tariffs.py", kinds.PERCENT)
    assert (found.kind, found.language, found.title) == ("cell", "python", "tariffs.py")
    assert [(part.text, part.language, part.headings, part.line) for part in found.parts] == [
        ("import pandas as pd", "", (), 6),
        ("# Tariffs\n\nNet of tax, in Zürich.", "markdown", ("Tariffs",), 9),
        ('tariffs = pd.read_csv("tariffs.csv")', "", ("Tariffs", "Load"), 14),
        ("rate = 0.081", "", ("Tariffs",), 17),
    ]
    assert found.parts[2].above == "Net of tax, in Zürich."


def test_a_script_in_the_light_format_is_read_cell_by_cell(read):
    """Paragraphs are cells as Jupytext makes them: comments are prose, marks hold code with blank lines together."""
    found = read("tariffs.py", kinds.LIGHT)
    assert (found.kind, found.language) == ("cell", "python")
    assert [(part.metadata["cell_type"], part.text) for part in found.parts] == [
        ("markdown", "# Tariffs\n\nNet of tax, in Zürich."),
        ("code", "import pandas as pd"),
        ("code", "def net(x):\n    # why\n    y = x / 1.081\n\n    return y\n\n\nclass Tariff:\n    pass"),
        ("code", "# a comment, and\nx = 1"),
        ("code", "tariffs = 1\n\nrate = 2"),
        ("markdown", "Prose one."),
        ("markdown", "Prose two."),
        ("code", "# %matplotlib inline\nimport numpy"),
        ("code", "text = '''\na\n\nb\n'''"),
        ("code", "for one in x:\n    a\n\n    b"),
        ("markdown", "raw λ"),
    ]
    assert found.parts[4].headings == ("Tariffs", "Rates")


@pytest.mark.parametrize("script", [kinds.PERCENT, kinds.LIGHT], ids=["percent", "light"])
def test_the_lines_of_cells_are_those_of_the_file(read, script):
    """A hit opens the script at the first line of its cell."""
    lines = script.split("\n")
    for part in read("tariffs.py", script).parts:
        assert part.text.split("\n")[0].lstrip("# ") == lines[part.line - 1].lstrip("# ")


@pytest.mark.parametrize(
    ("name", "text", "texts"),
    [
        ("a.py", "#%%\n1\n#%% Two\n2\n", ["1", "2"]),
        ("a.js", "// %%\n1\n// %%\n2\n", ["1", "2"]),
        ("a.m", "%% Load\nx = 1;\n%% Net\ny = 2;\n", ["x = 1;", "y = 2;"]),
        ("a.r", "# %% [markdown]\n# Net\n# %%\nx <- 1\n", ["Net", "x <- 1"]),
        ("a.py", '# %% [markdown]\n"""\n# Net\n"""\n', ["# Net"]),
        ("a.py", "# %%%% no mark\nx = '%%'\n", ["# %%%% no mark\nx = '%%'\n"]),
        ("a.py", "# %% this\n%memory status\n# %%\n2\n", ["2"]),
        # Marks of the light format count only below its header.
        ("a.py", "# +\nx = 1\n\n# -\n", ["# +\nx = 1\n\n# -\n"]),
    ],
)
def test_each_language_has_its_mark(read, name, text, texts):
    """Cells are divided by a comment of the language; what uses this memory is left out, as in a notebook."""
    assert [part.text for part in read(name, text).parts] == texts


def read_as(found):
    return [(part.text.strip(), part.language, part.headings, part.line) for part in found.parts]


def test_a_script_for_spin_is_prose_and_chunks(read):
    """Prose is Markdown with its headings, a chunk has its label and caption, a documented function its comment."""
    found = read("rig.R", TEXTS["spin"])
    wanten = "wanten <- spannung(mast)\n\n#' Länge in Metern\n#' @param x ein Mast\nlaenge <- function(x) x$laenge"
    assert read_as(found) == [
        ("---\ntitle: Takelage\n---\n# Wanten\n\nErneuert zu **Lichtmess**.", "markdown", (), 1),
        (wanten, "", ("Wanten",), 9),
        ("## Stage", "markdown", ("Wanten", "Stage"), 15),
        ("stag <- messen(x)", "", ("Wanten", "Stage"), 16),
        ('#+ bild, fig.cap="Der Wind"\nplot(stag)', "", ("Wanten", "Stage"), 17),
    ]
    assert [part.location for part in found.parts] == ["#0", "spannung", "#2", "#3", "bild"]
    assert found.parts[1].tags == ("rig", "λ")


def test_sections_of_rstudio_divide_a_script(read):
    """The name of a section is a heading; what only looks like one, and other languages, divide nothing."""
    script = (
        "library(readr)\n\n# Tiefen laden ----\ntiefen <- 3\n# -----\n\n"
        "## Bänke ====\nf <- function() {\n  # innen ----\n}\n"
    )
    assert read_as(read("a.R", script)) == [
        ("library(readr)", "", (), 1),
        ("tiefen <- 3\n# -----", "", ("Tiefen laden",), 4),
        ("f <- function() {\n  # innen ----\n}", "", ("Bänke",), 8),
    ]
    package = "#' Tiefe\n#'\n#' # Einzelheiten\n#' @export\nf <- function() 3\n\ng <- 2\n"
    for name, text in (("a.py", script), ("b.R", "# x\n# ------\ny <- 1\n"), ("c.R", package)):
        assert read(name, text).kind == "file"
        assert len(read(name, text).parts) == 1


@pytest.mark.parametrize("mark", ["#" * 79, "# %%"])
def test_an_example_of_a_gallery_is_prose_and_code(read, mark):
    """Its first text and the comments below a mark are reStructuredText."""
    first = '"""\nPegel\n=====\n\nAm Wehr.\n"""\nimport x\n'
    found = read("plot.py", f"{first}\n{mark}\n# Laden\n# -----\n# Die Werte.\ny = x.load()\n# kein Text\nz = y\n")
    assert read_as(found) == [
        ("Pegel\n=====\n\nAm Wehr.", "rst", ("Pegel",), 2),
        ("import x", "", ("Pegel",), 7),
        ("Laden\n-----\nDie Werte.", "rst", ("Pegel", "Laden"), 10),
        ("y = x.load()\n# kein Text\nz = y", "", ("Pegel", "Laden"), 13),
    ]
    assert len(read("a.py", f'"""Pegel am Wehr."""\nx = "# {mark}"\n').parts) == 1


@pytest.mark.parametrize(("name", "comment"), [("a.py", "#"), ("a.scala", "//"), ("a.sql", "--"), ("a.r", "#")])
def test_a_source_of_databricks_is_read_by_command(read, name, comment):
    """Each command is a part in its language, whatever comments the file has; a title is a heading."""
    text = TEXTS["databricks"].replace("# MAGIC", f"{comment} MAGIC").replace("# COMMAND", f"{comment} COMMAND")
    text = text.replace("# Databricks", f"{comment} Databricks").replace("# DBTITLE", f"{comment} DBTITLE")
    assert read_as(read(name, text)) == [
        ("# Fahrten\n\nNur sonntags.", "markdown", ("Fahrten",), 3),
        ("SELECT 1", "sql", ("Fahrten",), 10),
        ("display(x)", "", ("Fahrten", "Kaputte Drehkreuze"), 15),
        ("%run ./andere", "", ("Fahrten",), 19),
    ]


def test_a_notebook_of_marimo_is_read_by_cell(read):
    """Each cell has its own lines; what marimo wrote around them is not stored, and empty cells are none."""
    assert read_as(read("kaehne.py", TEXTS["marimo"])) == [
        ("import polars as pl", "", (), 7),
        ("# Kähne\n\nEs sind {n + 1}.", "markdown", ("Kähne",), 14),
        ('# Laden\n\nkaehne = pl.read_csv("a.csv")\ntiefgang = kaehne.mean()', "", ("Kähne",), 24),
        ("SELECT 1", "sql", ("Kähne",), 33),
        ("kaehne[", "", ("Kähne",), 44),
        ("def last(t):\n    return t * 0.6", "", ("Kähne",), 51),
    ]
    assert len(read("broken.py", TEXTS["marimo"] + "def (").parts) == 1


def test_a_notebook_of_pluto_is_read_in_the_order_shown(read):
    """Also cells that are folded or disabled; what Pluto writes for itself is not stored."""
    found = read("a.jl", TEXTS["pluto"])
    assert [(part.location[-1], part.language or found.language, part.text) for part in found.parts] == [
        ("0", "toml", '[frontmatter]\ntitle = "Tides"\ntags = ["λ", "water"]'),
        ("c", "markdown", '# Tides in Zürich\n\nThere are $(length("none")) of them.'),
        ("b", "julia", 'download("https://example.org/tides.csv")'),
        ("a", "julia", "height = 3.25"),
        ("d", "markdown", "Net of *wind*."),
        ("e", "julia", 'plot(md"a", "b")'),
    ]
    assert found.tags == ("λ", "water") and found.parts[3].headings == ("Tides in Zürich",)
    lines = TEXTS["pluto"].split("\n")
    shown = [(part.text.split("\n")[0], lines[part.line - 1]) for part in found.parts]
    assert all(text in line for text, line in shown)


@pytest.mark.parametrize(
    ("name", "text", "tags"),
    [
        ("a.py", '# %% Load tags=["parameters", "λ"]\nx = 1\n', ("parameters", "λ")),
        ("a.py", '# %% [markdown] {"tags": ["rates"]}\n# x\n', ("rates",)),
        ("a.py", '# ---\n# format_name: light\n# ---\n\n# + tags=["a"]\nx = 1\n', ("a",)),
        ("a.Rmd", '```{r net, tags=c("a", "b"), echo=FALSE}\n1\n```\n', ("a", "b")),
        ("a.qmd", "```{python}\n#| tags: [a, b]\n1\n```\n", ("a", "b")),
        ("a.md", "---\nkernelspec:\n  name: ir\n---\n```{code-cell} r\n:tags: [hide-input]\n1\n```\n", ("hide-input",)),
        ("a.md", '---\njupyter:\n  jupytext:\n    x: 1\n---\n```python tags=["a"]\n1\n```\n', ("a",)),
        ("a.py", "# %% Load\nx = 1\n", ()),
    ],
)
def test_tags_of_cells_in_texts(read, name, text, tags):
    """As Jupytext, knitr, Quarto and MyST write them."""
    assert read(name, text).parts[0].tags == tags


@pytest.mark.parametrize(
    ("name", "piece"),
    [
        ("a.R", "#+ a\n#' x\nf <- function\n"), ("a.R", "#' @x\n"), ("a.R", "# a    "), ("a.R", "#' # a\n"),
        ("a.qmd", "```{r {a}"), ("a.qmd", "#| a: b\n"), ("a.md", "---\njupytext:\n---\n<!-- #region\n-->"),
        ("a.py", '"""a\n===\n# %%\n'),
        # What the parser of pages would read again and again is taken out before.
        *(("a.html", piece) for piece in ("<!--", "<a ", "</a", "<!", "<?", "<a b='", "<", "<script>", "<div>")),
        ("a.html", "<![CDATA["),
    ],
)  # fmt: skip
def test_the_time_grows_no_faster_than_the_text(read, name, piece):
    """Marks that do not end, or that end something else, are passed over."""
    end = ">" if name == "a.html" else ""
    assert cpu_exponent(lambda n: lambda: read(name, piece * (n // len(piece)) + end), 50_000, 200_000) < 1.6


@pytest.mark.parametrize(
    ("name", "text"),
    [
        # Twenty thousand marks or headings do not become as many memories.
        ("generated.py", "# %%\nx = 1\n" * 20_000),
        ("a.qmd", "# a\n" * 20_000),
        # A chunk that nobody closed is read to the end of the file, and no page is so broken that it ends the run.
        *(("a.qmd", text) for text in ("```{r}\n", "```{r}\nx", "````{r}\n```\n````\n", "~~~{r}\nx\n~~~", "```{r")),
        *(("a.html", text) for text in ("", "<", "<p", "<!--", "<title>", "a < b", "</p>", "<h1>", "<h1></h1>")),
        ("a.html", "&#xFFFFFF;"),
    ],
    ids=lambda one: one[:12],
)
def test_what_is_broken_or_endless_is_one_text(read, name, text):
    assert len(read(name, text).parts) <= 1


def told(found):
    return [(part.text.split("\n")[0], part.location, part.language, part.line) for part in found.parts]


def test_quarto_is_read_chunk_by_chunk(read):
    """Each chunk has its language and label; prose is cut at headings, and a listing that is not run is prose."""
    found = read("tariffs.qmd", kinds.QUARTO)
    assert (found.kind, found.language, found.tags) == ("cell", "python", ())
    assert found.written is not None and found.written.astimezone().date() == date(2026, 3, 5)
    assert told(found) == [
        ('title: "Tariffs in Zürich"', "#0", "markdown", 1),
        ("# Prices", "#1", "markdown", 8),
        ("prices.plot()", "fig-prices", "python", 15),
        ("## Net of tax", "#3", "markdown", 18),
        ("#| fig.cap: Net prices", "net", "r", 25),
    ]
    assert found.parts[2].metadata["options"] == {"label": "fig-prices", "echo": "false"}
    assert found.parts[4].metadata["options"] == {"echo": "FALSE", "fig.cap": "Net prices"}
    assert found.parts[4].headings == ("Prices", "Net of tax")


def test_r_markdown_is_in_r(read):
    """Unless its first chunk says otherwise; the same label twice is a place."""
    assert read("a.Rmd", "Text.\n").language == "r"
    assert read("a.Rmd", "```{python}\n1\n```\n").language == "python"
    twice = read("a.Rmd", "```{r net}\n1\n```\n```{r net}\n2\n```\n")
    assert [part.location for part in twice.parts] == ["net", "#1"]


def test_myst_is_read_chunk_by_chunk(read):
    """The kernel says the language of a code-cell; a directive is prose; options are not code."""
    found = read("tariffs.md", kinds.MYST)
    assert (found.kind, found.language) == ("cell", "r") and "Read this first." in found.parts[0].text
    assert told(found) == [
        ("# Tariffs", "#0", "markdown", 8),
        ('tariffs <- read.csv("tariffs.csv")', "#1", "", 17),
        ("## Net of tax", "#2", "markdown", 20),
    ]


def test_markdown_of_jupytext_runs_plain_fences(read):
    """In a file with a kernel, a fence that names a language is a cell; without one, it is Markdown as ever."""
    text = "# Net\n\n```python\nx = 1\n```\n"
    header = "---\njupyter:\n  x: 1\njupytext:\n  text_representation:\n    format_name: markdown\n---\n"
    assert [part.text for part in read("a.md", header + text).parts] == ["# Net", "x = 1"]
    assert [part.text for part in read("b.md", text).parts] == [text]


@pytest.mark.parametrize(
    ("name", "chunk", "first", "line"),
    [
        ("a.qmd", '{python}\n#| fig-cap: "Setzlinge λ"\n#| echo: false\nplot()', "#| fig-cap: Setzlinge λ", 3),
        ("a.qmd", "{r}\n#| tbl-cap: >\n#|   Regen,\n#|   in Tonnen\nplot()", "#| tbl-cap: Regen, in Tonnen", 4),
        ("a.qmd", '{r}\n#| fig-subcap:\n#|   - "Eins"\n#|   - "Zwei"\nplot()', "#| fig-subcap: Eins Zwei", 4),
        ("a.qmd", "{sql}\n--| tbl-cap: Boote\nplot()", "--| tbl-cap: Boote", 2),
        ("a.Rmd", r'{r, fig.cap="Höhe $x_{1}$, \"λ\"", echo=F}' + "\nplot()", '#| fig.cap: Höhe $x_{1}$, "λ"', 1),
        ("a.Rmd", '{r a, fig.cap=c("A", "B"), fig.alt="C"}\nplot()', '#| fig.cap: c("A", "B") #| fig.alt: C', 1),
        ("a.Rmd", '{r}\n#| fig.cap = "Wehr",\nplot()', "#| fig.cap: Wehr", 2),
        ("a.Rmd", "{r, fig.cap.location='top'}\nplot()", "plot()", 2),
    ],
)
def test_captions_are_text(read, name, chunk, first, line):
    """A caption, and what stands for a picture, is part of the text; the code stays on its lines."""
    [part] = read(name, f"```{chunk}\n```\n").parts
    assert (part.text.split("\n")[0], part.line) == (first, line) and part.text.endswith("plot()")


@pytest.mark.parametrize(
    "directive", ["{index} Leuchtfeuer", "{note} Achtung", "{figure} horn.png", "{prf:theorem}", "{tip}"]
)
def test_a_directive_is_prose(read, directive):
    for name in ("a.Rmd", "a.qmd"):
        prose, code = read(name, f"```{directive}\nAuf der Galerie.\n```\n\n```{{python}}\nx = 1\n```\n").parts
        assert (prose.language, code.language, code.text) == ("markdown", "python", "x = 1")
        assert directive in prose.text and "Auf der Galerie." in prose.text


def test_markdown_as_jupytext_writes_it(read):
    """Each cell is a part in its language; the marks around Markdown are not stored, their tags and titles are."""
    found = read("a.md", TEXTS["jupytext"])
    assert (found.language, [(one.text, one.language, one.tags, one.line) for one in found.parts]) == (
        "julia",
        [
            ("# Kräne", "markdown", (), 9),
            ("Der Ausleger.\n\n```python\nkein Code\n```", "markdown", ("aside",), 12),
            ("last = 5", "julia", ("parameters",), 20),
            ("ls", "bash", (), 24),
            ("Ende", "markdown", (), 27),
        ],
    )
    assert found.parts[1].headings == ("Kräne", "Am Kai")


@pytest.mark.parametrize(
    "front", ["title: Birds", "title: Birds\ntags:\n- ringing\n- 2024", "abstract: |\n  Of birds.\n  And rings."]
)
def test_the_fence_of_a_front_matter_is_not_part_of_it(read, front):
    assert read("birds.Rmd", f"---\n{front}\n---\n\nText.\n").parts[0].text == front


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        # Ordinary links, matrices and code are left as they are.
        *((text, text) for text in ("[[1]](https://a.b)", "[[1, 2], [3, 4]]", "`[[ -f x ]]` and `a[[i]]`")),
        *((text, text) for text in ("```\n[[x]]\n> [!note] y\n```", "[^1] [a](b)")),
        # As many backticks close code as opened it; a regular expression took a minute for two thousand of them.
        ("a " + "`" * 100_000 + "x [[a]] #tag", "a " + "`" * 100_000 + "x a #tag"),
        ("``[[a]] ` [[b]]`` [[c]] ` [[d]]", "``[[a]] ` [[b]]`` c ` d"),
    ],
)
def test_what_only_looks_like_a_mark_stays(read, text, plain):
    assert read("note.md", text).parts[0].text == plain


def test_marks_are_read_as_their_text(read):
    """A link is its alias with its target, an embed its name, a callout its title; lines stay where they are."""
    text = read("note.md", TEXTS["note"]).parts[0].text
    assert "> Ask Zoë (Zoë Müller)\n> See Rates 2026 > Night shift and 300 (plot.png) #team/night." in text
    assert "x[[0, 1]]  # [[not a link]] #nottag" in text and text.count("\n") == TEXTS["note"].count("\n")
    # Headings, numbers, anchors and code hold no tags.
    assert read("note.md", TEXTS["note"]).tags == ("rates", "ops", "team/night")
    assert read("note.md", "# Title\n#12 a#b [x](#y) `#z` ## two").tags == ()


def test_a_vault_is_searched_by_link_and_tag(index, folder):
    """An indexed vault has the tags of its notes, finds them by alias and target, and leaves out hidden folders."""
    for hidden in (".obsidian", ".trash"):
        (folder / hidden).mkdir()
        (folder / hidden / "old.md").write_text("[[Zoë Müller]] was here.")
    (folder / "delays.md").write_text(TEXTS["note"])
    assert index(folder).files == 1
    [hit] = index.memory.hits("Zoë Müller", filters={"tag": "team/night"}).hits
    assert set(hit.memory.tags) == {"rates", "ops", "team/night"} and "[[Zoë" not in hit.memory.text


def test_a_page_is_read_by_section(read):
    """Each heading with its text is a part that knows its line; programs, styles and menus are not read."""
    found = read("a.html", kinds.HTML)
    assert (found.title, found.language) == ("Tariffs & taxes", "html")
    assert [(part.text, part.location, part.headings, part.line) for part in found.parts] == [
        ("Before.", "", (), 1),
        ("Net of tax\n\nPrices in Zürich are\nnet.", "net", ("Net of tax",), 7),
        ("Rates\n\ncity\trate\nBern\t8.1", "rates", ("Net of tax", "Rates"), 11),
    ]
    assert not any("secret_program" in part.text or "Home" in part.text for part in found.parts)


@pytest.mark.parametrize("charset", ["iso-8859-1", "windows-1252", "utf-8", "utf-16", "shift_jis", "no-such"])
def test_the_charset_is_that_of_the_page(read, charset):
    """A page says how it is encoded; one that says nonsense is read all the same."""
    word = "料金" if charset == "shift_jis" else "Zürich"
    page = f'<html><head><meta charset="{charset}"></head><body><p>{word}</p></body></html>'
    found = read("a.html", page.encode("latin-1" if charset == "no-such" else charset))
    assert [part.text for part in found.parts] == [word]
