"""Small workbooks of Excel before 2007 and of LibreOffice."""

from __future__ import annotations

import zipfile
import zlib
from base64 import b85decode
from pathlib import Path

# A sheet "Umsätze" of five rows below a title, and an empty one, as xlwt writes them.
_XLS = (
    "c-rk)T}TvB6#iy*W_LApcTFV?mc_`*^dW-iMYlqe2*re`?8nyKAs2O5#x=--EZfH@=&9&Mu!nlEp9lMgdg~!j>LCaMt=@VH3VKkdbI;D"
    "`uC3sb3C4WOJ#)^v=YDhV+<WewoyiH`)X2k%X)HoL9GElm;7s#LRPrpt3#vB^p;}ir6~o4wLY|u@(y8Kk;aiuOLowgeknuoyO%nJ_<pl"
    "cB5|3$tRm48-Lr4;RsFM_0dopfQDMC5-tC(e&<$9L)Irat1J?y#4vW{Y>q;^aMTdH@P>-eZ#$#q2}B|PRfAK9}5rFbLO@x|*>Dpti_Js"
    "Rp+V-<d-0HdHOZPH?zE^H6(ARjnJsBLbpZD^Q62~GDXei{Mbhn3f_0=9p3{SwIkE7R{<!tbU@T<pIgE5Hzp(~?-sNqEq%h#D6T_x68H3"
    "~EUf-~wm2f*wuNXK)JZI6&l)6%~ku!d-!b1F?ukmEnQ@M7&qiJE9R<G~uoRJ=PHkB}7%99t~@O<Bf;gPC9_No}fJ=6i!6XYNWK!P;FPf"
    "I4O8%@n-BSg`95%BqP*Kq5C-Nyfm<xyWih6ceVyQ*fYeZN$SkmECvVzmqZI{Tm<X10WEi+np<pVd6`)^vR=WmgktDg)mmyQ`-eH^3fEQ"
    "<&rZhs;FdIfE9uE^ho1P8UxM36A8VQ(EE)R{96=?Wfe~sie#5AdYNT5?1)c`2t7Ps@pIDavu~WHauQ@iuJXk%L6}d_9rN%}PGLJ4ZLgo"
    "nZOj4Hh{8E-omSf&>kfqF93R$Yj>{!J75*yg(!@UDyMHEj8rl1GZPPBF~mzY0Qc9X7f9|V(<g-KziF=i@brd_a@lnf>%jY-YIq%zYZW~"
    "yMOGvyYOn!%)|F*&m^Ihkpknf%Oj-fuBEGnkxdOs*_UE@pbhOqI-ZZIi|1%3yMtO!aax#>FJjskDHV%MdJ?Aq!Y*8N$yD*`ApV8#Zj%u"
    "wmoxA@REz`29~Y->04Ce*^JdXO_yG{h8#yMH}MuOVD4+M#Si<<6KVbrwpoOaY@T;V|_0aI6`;V(Tz^-M|aNam);|#^zkgap?Bp{DA)VX"
    "<<if8eE;7VT`(>"
)
_SPACES = {"office": "office", "table": "table", "text": "text"}


def xls() -> bytes:
    """Return a workbook with one sheet of columns that have names, a title above them, and values below."""
    return zlib.decompress(b85decode("".join(_XLS)))


def ods(path: Path, rows: str) -> None:
    """Write a workbook of LibreOffice with one sheet of these rows."""
    names = " ".join(f'xmlns:{one}="urn:oasis:names:tc:opendocument:xmlns:{one}:1.0"' for one in _SPACES)
    body = f'<office:body><office:spreadsheet><table:table table:name="Tarife">{rows}</table:table>'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr(
            "content.xml",
            f"<office:document-content {names}>{body}</office:spreadsheet></office:body></office:document-content>",
        )


def row(*cells: str, more: str = "") -> str:
    """Return a row of texts, with more attributes if given."""
    inner = "".join(
        f'<table:table-cell office:value-type="string"><text:p>{one}</text:p></table:table-cell>' for one in cells
    )
    return f"<table:table-row{more}>{inner}</table:table-row>"
