"""A small file of each kind of text that the readers read, as people write them: ``kinds.toml``."""

import tomllib
from pathlib import Path

SAMPLES: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
LIGHT = SAMPLES.pop("light .py")
PERCENT, QUARTO, MYST, HTML = (SAMPLES[ending] for ending in (".py", ".qmd", ".md", ".html"))
R, JULIA, SQL, BASH, JAVASCRIPT = (SAMPLES[ending] for ending in (".r", ".jl", ".sql", ".sh", ".js"))
JAVA, CPP, RUST, GO = (SAMPLES[ending] for ending in (".java", ".cpp", ".rs", ".go"))
LATEX, ORG, ASCIIDOC = (SAMPLES[ending] for ending in (".tex", ".org", ".adoc"))
SAMPLES |= {".rmd": QUARTO, ".ts": JAVASCRIPT, ".c": CPP}
