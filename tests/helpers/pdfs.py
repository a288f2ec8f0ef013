"""PDFs as small as they can be: pages of plain text, a title, a date."""

from __future__ import annotations

from collections.abc import Sequence


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
