"""What is broken, bulky or in another encoding is read as far as it goes and bounded, and the report says so."""

import base64
import json
import random

import pytest
from growing import cpu_exponent

from jupyter_memory import InputError
from jupyter_memory.ingest import read_file, walk

BLOB = base64.b64encode(random.Random(7).randbytes(30_000)).decode()
WRAPPED = "\n".join(BLOB[at : at + 76] for at in range(0, len(BLOB), 76))
GENES = "\n".join("ACGT" * 20 for _ in range(400))


def notebook(*sources):
    cells = [
        {
            "cell_type": "code", "execution_count": None, "id": f"c{place}", "metadata": {}, "outputs": [],
            "source": [one],
        }
        for place, one in enumerate(sources)
    ]  # fmt: skip
    metadata = {"kernelspec": {"language": "R", "name": "ir"}}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def conflict(text, ours, theirs, base=""):
    line = next(one for one in text.split("\n") if ours in one)
    middle = f"||||||| base\n{line.replace(ours, base)}\n" if base else ""
    return text.replace(line, f"<<<<<<< HEAD\n{line}\n{middle}=======\n{line.replace(ours, theirs)}\n>>>>>>> other")


WHOLE = notebook("flour <- 3", "bake(flour)", "eat()")
SOURCES = ["flour <- 3", "bake(flour)", "eat()"]


@pytest.mark.parametrize(
    ("text", "sources", "noted"),
    [
        (
            conflict(WHOLE, "bake(flour)", "roast(flour)"),
            ["flour <- 3", "bake(flour)", "roast(flour)", "eat()"],
            "conf",
        ),
        (conflict(WHOLE, '"ir"', '"xr"', '"r"'), SOURCES, "conflict markers of Git (1)"),
        (WHOLE.replace('"eat()"', '"eat([1,])",'), ["flour <- 3", "bake(flour)", "eat([1,])"], "damaged"),
        (WHOLE[: WHOLE.index("eat()")], ["flour <- 3", "bake(flour)"], "damaged"),
        (WHOLE.replace('"bake(flour)"', "!"), ["flour <- 3", "eat()"], "damaged"),
    ],
)
def test_a_broken_notebook_is_read_as_far_as_it_goes(drafted, text, sources, noted):
    """Cells that differ are there from both sides; a truncated file has those before its end."""
    drafts = drafted("a.ipynb", text)
    assert [draft.text for draft in drafts] == sources
    assert noted in str(drafts[0].metadata["reading_notes"]) and not any("<<<" in draft.text for draft in drafts)
    assert drafts[0].lang == ("r" if "eat()" in sources else drafts[0].lang)


@pytest.mark.parametrize("piece", ['{"cell_type": ', '{"cell_type": "', "<<<<<<< a\n", "=======\n", ",]"])
def test_the_time_for_a_broken_notebook_grows_with_its_length(tmp_path, piece):
    """Whatever recurs in it."""

    def read(count):
        def run():
            with pytest.raises(InputError):
                read_file(path, root=tmp_path)

        path = tmp_path / f"{count}.ipynb"
        path.write_text('{"cells": [' + piece * (count // len(piece)))
        return run

    assert cpu_exponent(read, 30_000, 120_000) < 1.6


@pytest.mark.parametrize(
    ("name", "content", "kept", "noted"),
    [
        ("a.py", f'"""A flag."""\nFLAG = "{BLOB}"\n\ndef hoist():\n    return FLAG\n', "def hoist():", "encoded data"),
        ("a.md", f"# Flag\n\n{WRAPPED}\n\nHoisted.\n", "Hoisted.", "encoded data"),
        ("a.txt", f"Dump: {BLOB.encode().hex()}\nDone.\n", "Done.", "encoded data"),
        ("a.ipynb", notebook(f"flag = '''\n{WRAPPED}\n'''\nhoist(flag)"), "hoist(flag)", "encoded data"),
        ("a.r", f"x <- c({'1.5, ' * 20_000})\nprint(x)\n", "print(x)", "longer than"),
    ],
)
def test_data_among_words_are_bounded_and_noted(drafted, name, content, kept, noted):
    [draft] = drafted(name, content)
    assert kept in draft.text and len(draft.text) < 5_000 and noted in draft.metadata["reading_notes"][0]
    if name != "a.ipynb":
        assert draft.text.split(kept)[0].count("\n") == content.split(kept)[0].count("\n")


WORDS = " ".join(random.Random(7).choices(["pump", "mill", "λ", "0.25", "Zürich", "flag_7"], k=400_000))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", f"First.\n{WORDS} the end\nLast.\n"),
        ("a.md", f"# Flag\n\n{WORDS} the end\n\nLast.\n"),
        ("a.txt", "\n".join([WORDS[:200_000]] * 9 + ["the end", "Last."])),
    ],
)
def test_a_very_long_line_keeps_its_head_and_tail(drafted, name, content):
    """All such lines have a bound together; the other lines stay where they are, and no half of a secret is left."""
    key = "ghp_" + "aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2eF5hJ7"
    content = content.replace(WORDS[224_000:225_000], WORDS[224_000:224_500] + f" {key} " + WORDS[224_500:225_000])
    [draft] = drafted(name, content)
    assert 300_000 <= len(draft.text) < 320_000 and key[:12] not in draft.text
    assert "the end" in draft.text and WORDS[:1_000] in draft.text and draft.metadata["reading_notes"]
    assert "characters of very long lines are left out" in draft.metadata["reading_notes"][0]
    assert draft.text.count("\n") == content.count("\n")


def test_a_long_line_is_read_whole(drafted):
    [draft] = drafted("a.md", WORDS[:250_000])
    assert draft.text == WORDS[:250_000] and "reading_notes" not in draft.metadata


@pytest.mark.parametrize(
    "text",
    [
        GENES, "-" * 3_000, "a/b_c" * 500, "9" * 2_000,
        "\n".join(["/data/run/" + "sample" * 9 + str(n) for n in range(99)]),
    ],
)  # fmt: skip
def test_what_is_no_encoded_data_stays(drafted, text):
    """Genes, rules, paths and numbers are somebody's text."""
    [draft] = drafted("a.txt", text)
    assert draft.text == text and "reading_notes" not in draft.metadata


ROWS = [f"({n}, 'kiln; {n}', NULL)" for n in range(4_000)]


@pytest.mark.parametrize(
    "rows",
    [
        "INSERT INTO `pots` VALUES " + ",\n".join(ROWS) + ";",
        "\n".join(f"INSERT INTO pots (id, name, glaze) VALUES {row};" for row in ROWS),
        "\n".join(f"INSERT [dbo].[pots] ([id]) VALUES {row}" for row in ROWS),
        "COPY pots (id, name) FROM stdin;\n" + "\n".join(f"{n}\tcreate kiln;\t\\N" for n in range(4_000)) + "\n\\.",
    ],
    ids=["mysql", "sqlite", "mssql", "postgres"],
)
def test_of_a_dump_the_tables_are_kept(tmp_path, rows, drafted):
    """Statements before and after the rows stay, the rows are counted; a small file is not a dump."""
    statements = "CREATE TABLE pots (id int, name text);", "CREATE INDEX by_name ON pots (name);"
    [draft] = drafted("a.sql", f"{statements[0]}\n{rows}\n{statements[1]}\n")
    assert all(one in draft.text for one in statements) and "kiln" not in draft.text and "pots" in draft.text
    assert "lines with rows" in draft.metadata["reading_notes"][0]
    (tmp_path / "b.sql").write_text("INSERT INTO pots VALUES (1, 'kiln');\n")
    assert "kiln" in read_file(tmp_path / "b.sql", root=tmp_path)[0].text


def test_pictures_do_not_count_toward_the_limit_of_size(tmp_path):
    """The same bytes as text do."""
    output = {"output_type": "display_data", "metadata": {}, "data": {"image/png": BLOB * 20}}
    cell = {"cell_type": "code", "metadata": {}, "source": "plot(herons)", "outputs": [output]}
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
    (tmp_path / "b.ipynb").write_text(notebook(*["x = [1, 2, 3]"] * 20_000))
    found = walk(tmp_path, max_bytes=500_000)
    assert found.files == [tmp_path / "a.ipynb"] and [path for path, _ in found.skipped] == [str(tmp_path / "b.ipynb")]


def test_a_pointer_of_git_lfs_is_named(store, tmp_path):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22e\nsize 12345\n"
    for name in ("a.ipynb", "b.csv", "c.md"):
        (tmp_path / name).write_text(pointer)
    report = store().index(tmp_path, progress=False)
    assert report.cells == 0 and sum("git lfs pull" in why for _, why in report.failed) == 3


CANVAS = {
    "nodes": [
        {"id": "8f3a1c22", "type": "text", "text": "# Loft\n\nBolt of #sail/cloth for [[Ada]].", "x": -12, "width": 2},
        {"id": "9b", "type": "group", "label": "Ropes"},
        {"id": "9c", "type": "file", "file": "Tar.md"},
    ],
    "edges": [{"id": "9d", "fromNode": "9b", "toNode": "9c", "label": "needs"}],
}
DRAWING = {
    "type": "excalidraw",
    "elements": [{"id": "e1", "type": "text", "text": "Heckle"}, {"type": "line", "seed": 5}],
}


@pytest.mark.parametrize(
    ("name", "content", "text", "tags"),
    [
        (
            "a.canvas",
            json.dumps(CANVAS),
            "# Loft\n\nBolt of #sail/cloth for Ada.\n\nRopes\n\nTar.md\n\nneeds",
            ("sail/cloth",),
        ),
        ("a.excalidraw", json.dumps(DRAWING), "Heckle", ()),
    ],
)
def test_the_texts_of_a_canvas_are_read(drafted, name, content, text, tags):
    """Its ids and coordinates are not."""
    [draft] = drafted(name, content)
    assert (draft.text, draft.tags) == (text, tags)


@pytest.mark.parametrize("content", ["[]", "{", '{"nodes": 3}', '"a"', '{"nodes": [3]}'])
def test_what_is_no_canvas_is_told(tmp_path, content):
    (tmp_path / "a.canvas").write_text(content)
    with pytest.raises(InputError, match="canvas"):
        read_file(tmp_path / "a.canvas", root=tmp_path)


@pytest.mark.parametrize("fence", ["compressed-json", "json"])
def test_a_drawing_in_a_note_has_its_texts(drafted, fence):
    note = "---\nexcalidraw-plugin: parsed\n---\nOf ropes.\n\n## Text Elements\nTar ^aBcD1234\n\n%%\n## Drawing\n"
    [draft] = drafted("a.excalidraw.md", f"{note}```{fence}\n{WRAPPED}\n```\n%%\n")
    assert "Of ropes." in draft.text and "Tar\n" in draft.text and len(draft.text) < 200


RUSSIAN = "Вчера мы проверили насос у старой мельницы. Вода поднялась на три сантиметра, и сторож записал это в журнал."
CZECH = "Včera jsme u starého mlýna změřili hladinu. Voda stoupla o tři centimetry, protože několik dní pršelo."
CHINESE = "昨天我们在旧磨坊检查了水泵。水位上升了三厘米，看守人把它写进了日志。明天要更换传感器的电池。"
TEXTS = [
    ("gb18030", CHINESE), ("gbk", CHINESE),
    ("big5", "昨天我們在舊磨坊檢查了水泵。水位上升了三厘米，看守人把它寫進了日誌。明天要更換感測器的電池。"),
    ("shift_jis", "昨日、古い水車小屋でポンプを点検しました。水位は三センチ上がり、番人がそれを日誌に書きました。"),
    ("euc_jp", "昨日、古い水車小屋でポンプを点検しました。水位は三センチ上がり、番人がそれを日誌に書きました。"),
    ("cp949", "어제 우리는 오래된 방앗간에서 펌프를 점검했습니다. 수위가 삼 센티미터 올라갔고 적었습니다."),
    ("cp1251", RUSSIAN), ("koi8_r", RUSSIAN), ("cp866", RUSSIAN), ("cp1250", CZECH), ("iso8859_2", CZECH),
    ("cp1252", "Gestern prüften wir die Pumpe an der Mühle. Das Wasser stieg über die Schwelle, höher als üblich."),
    ("cp1253", "Χθες ελέγξαμε την αντλία στον παλιό μύλο. Το νερό ανέβηκε τρία εκατοστά και ο φύλακας το έγραψε."),
    ("cp1255", "אתמול בדקנו את המשאבה בטחנה הישנה. המים עלו בשלושה סנטימטרים והשומר רשם זאת ביומן."),
    ("cp1256", "فحصنا أمس المضخة عند الطاحونة القديمة. ارتفع الماء ثلاثة سنتيمترات وكتب الحارس ذلك في السجل."),
    ("utf-16-le", "The pump was checked at the mill.\nThe keeper noted Größe and λ in the log.\n"),
    ("utf-16-be", f"{RUSSIAN}\n"),
]  # fmt: skip


@pytest.mark.parametrize(("encoding", "text"), TEXTS, ids=[encoding for encoding, _ in TEXTS])
def test_a_text_is_read_in_its_encoding(drafted, encoding, text):
    [draft] = drafted("a.md", f"# Log\n\n{text}".encode(encoding))
    assert text in draft.text and "reading_notes" not in draft.metadata


@pytest.mark.parametrize(
    ("name", "line", "encoding", "word"),
    [
        ("a.py", "# -*- coding: cp1251 -*-", "cp1251", "щи"),
        ("b.py", "#!/usr/bin/env python\n# vim: set fileencoding=koi8-r :", "koi8_r", "щи"),
        ("c.tex", "\\documentclass{article}\n\\usepackage[latin2]{inputenc}", "latin2", "žluť"),
        ("d.html", '<meta charset="iso-8859-1">', "latin-1", "ùèø ìêæ"),
        ("e.html", '<meta charset="utf-16">', "cp1252", "für Größe"),
    ],
)
def test_a_declared_encoding_is_believed(drafted, name, line, encoding, word):
    """Also where there are too few letters to guess; but not if the text cannot be in it."""
    [draft] = drafted(name, f"{line}\n{word}\n".encode(encoding))
    assert word in draft.text


@pytest.mark.parametrize(
    ("content", "noted"),
    [
        ("naïf, ca".encode("cp1250", "replace") + b"\xe8\xf8", "its encoding is a guess"),
        ("λ and μ are letters of Greek: αβγδεζηθ".encode() + b"\xff", "1 of its characters are damaged"),
    ],
)
def test_what_is_uncertain_is_in_the_report(store, tmp_path, content, noted):
    """With what to do; the file is read all the same, and noted when it is read, not when it is unchanged."""
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.txt").write_bytes(content)
    memory = store()
    report = memory.index(folder, progress=False)
    [(path, what, kind)] = report.left_out
    assert path.endswith("a.txt") and noted in what and kind == "" == report.kinds_left_out
    assert "1 noted" in str(report) and f"noted   {path}" in str(report)
    assert not memory.index(folder, progress=False).left_out


@pytest.mark.parametrize(
    "content", [b"PK\3\4\0\0" * 400, bytes(range(256)) * 40, b"".join(n.to_bytes(2, "little") for n in range(4_000))]
)
def test_what_is_binary_is_no_text(tmp_path, content):
    """Nothing of it is taken for UTF-16."""
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(InputError, match="binary"):
        read_file(tmp_path / "a.txt", root=tmp_path)


def test_the_names_of_columns_are_read_in_their_encoding(drafted):
    [draft] = drafted("a.csv", "город;население;площадь\nПермь;10;2.5\nОмск;20;3.5\nУфа;15;4\n".encode("cp1251"))
    assert "население: integer" in draft.text
