"""Documents as small as they can be: PDFs of plain text, and workbooks of Excel before 2007 and of LibreOffice."""

import zipfile
import zlib
from base64 import b85decode
from collections.abc import Sequence
from pathlib import Path


def pdf_of(pages: Sequence[str], title: str = "", date: str = "", *, pictures: bool = False) -> bytes:
    """Return a PDF with a page for each text; ``date`` is as PDF writes it. With ``pictures``, each page has one."""
    shown = b"q 600 0 0 800 0 0 cm /I Do Q " if pictures else b""
    texts = [shown + (f"BT /F1 12 Tf 50 700 Td ({page}) Tj ET".encode() if page else b"") for page in pages]
    kids = " ".join(f"{5 + 2 * place} 0 R" for place in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Title ({title}) /CreationDate ({date}) >>".encode(),
    ]
    picture = f"/XObject << /I {5 + 2 * len(pages)} 0 R >>" if pictures else ""
    for place, text in enumerate(texts):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >> {picture} >> /MediaBox [0 0 600 800] "
            f"/Contents {6 + 2 * place} 0 R >>".encode()
        )
        objects.append(f"<< /Length {len(text)} >>\nstream\n".encode() + text + b"\nendstream")
    head = b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1"
    return written([*objects, head + b" >>\nstream\n\0\nendstream"])


def written(objects: Sequence[bytes]) -> bytes:
    """Return these objects, numbered from 1, as a PDF: the first is its catalog, the fourth its properties."""
    whole, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(whole))
        whole += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    trailer = f"trailer << /Size {len(objects) + 1} /Root 1 0 R /Info 4 0 R >>\nstartxref\n{len(whole)}\n%%EOF\n"
    return whole + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode()


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
    return zlib.decompress(b85decode("".join(_XLS)))


def ods(path: Path, rows: str) -> None:
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
    inner = "".join(
        f'<table:table-cell office:value-type="string"><text:p>{one}</text:p></table:table-cell>' for one in cells
    )
    return f"<table:table-row{more}>{inner}</table:table-row>"
