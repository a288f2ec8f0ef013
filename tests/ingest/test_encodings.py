"""Files that are not UTF-8: their encodings are declared or guessed, and what is uncertain is in the report."""

import pytest

from jupyter_memory import InputError
from jupyter_memory.ingest import read_file

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
def test_a_text_is_read_in_its_encoding(tmp_path, encoding, text):
    path = tmp_path / "a.md"
    path.write_bytes(f"# Log\n\n{text}".encode(encoding))
    [draft] = read_file(path, root=tmp_path)
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
def test_a_declared_encoding_is_believed(tmp_path, name, line, encoding, word):
    """Also where there are too few letters to guess; but not if the text cannot be in it."""
    (tmp_path / name).write_bytes(f"{line}\n{word}\n".encode(encoding))
    [draft] = read_file(tmp_path / name, root=tmp_path)
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


def test_the_names_of_columns_are_read_in_their_encoding(tmp_path):
    (tmp_path / "a.csv").write_bytes("город;население;площадь\nПермь;10;2.5\nОмск;20;3.5\nУфа;15;4\n".encode("cp1251"))
    [draft] = read_file(tmp_path / "a.csv", root=tmp_path)
    assert "население: integer" in draft.text
