"""A small file of each kind of text that the readers read, as people write them."""

from __future__ import annotations

PERCENT = """\
# ---
# jupyter:
#   jupytext:
#     formats: py:percent
# ---
import pandas as pd

# %% [markdown]
# # Tariffs
#
# Net of tax, in Zürich.

# %% Load
tariffs = pd.read_csv("tariffs.csv")

# %% tags=["parameters"]
rate = 0.081
"""
LIGHT = """\
# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: light
#       format_version: '1.5'
# ---

# # Tariffs
#
# Net of tax, in Zürich.

import pandas as pd


# +
def net(x):
    # why
    y = x / 1.081

    return y


class Tariff:
    pass


# -

# a comment, and
x = 1

# + Rates tags=["parameters"]
tariffs = 1

rate = 2
# -

# Prose one.

# Prose two.

# %matplotlib inline
import numpy

text = '''
a

b
'''

for one in x:
    a

    b

# + active=""
# raw λ
"""
QUARTO = """\
---
title: "Tariffs in Zürich"
date: 2026-03-05
categories: [energy]
jupyter: python3
---

# Prices

We clean the prices.

```{python}
#| label: fig-prices
#| echo: false
prices.plot()
```

## Net of tax

```python
shown("and not run")
# not a heading
```

```{r net, echo=FALSE, fig.cap="Net prices"}
summary(prices)
```
"""
MYST = """\
---
kernelspec:
  display_name: R
  language: R
  name: ir
---

# Tariffs

```{note}
Read this first.
```

```{code-cell} r
:tags: [hide-input]

tariffs <- read.csv("tariffs.csv")
```

## Net of tax

Without the tax.
"""
R = """\
library(dplyr)

# Load data ----
tariffs <- read.csv("tariffs.csv")

#' Net of tax
#' @param x prices
net_of_tax <- function(x, rate = 0.081) {
  x / (1 + rate)
}
"""
JULIA = "module Tariffs\n# Net of tax.\nfunction net!(x)\n    x\nend\narea(r) = 3r^2\nend\n"
SQL = "-- All tariffs.\nCREATE OR REPLACE VIEW net.tariffs AS\nSELECT * FROM tariffs;\n\nINSERT INTO log VALUES (1);\n"
BASH = "set -e\n\n# Builds the wheel.\nbuild() {\n  python -m build\n}\n\nfunction deploy {\n  build\n}\n"
JAVASCRIPT = """\
// Keeps tariffs.
export class Store extends Base {
  async get(key) {
    return this.map[key];
  }
}
export const clean = async (rows) => {
};
"""
JAVA = "/** Tariffs. */\npublic final class Store {\n    @Override\n    public int add(int x) {\n    }\n}\n"
CPP = (
    "namespace tariffs {\nclass Store : public Base {\n  int get() const {\n  }\n};\n}\n\nint Store::add(int x)\n{\n}\n"
)
RUST = "/// Tariffs.\npub struct Store<T> {\n}\nimpl<T> Store<T> {\n    pub fn add(&self) -> u8 {\n    }\n}\n"
GO = "// Add adds.\nfunc (s *Store) Add(x int) {\n}\n\ntype Store struct {\n}\n"
LATEX = "\\documentclass{article}\n\\section{Net of \\emph{tax}}\nText.\n\\subsection*{Rates}\nMore.\n"
ORG = "#+title: Tariffs\n* TODO Net of tax :work:home:\nText.\n** Rates\nMore.\n"
ASCIIDOC = "= Tariffs\n\n== Net of tax\n\nText.\n"
HTML = """\
<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>Tariffs &amp; taxes</title>
<style>p { color: red }</style><script>var secret_program = 1;</script></head>
<body>
<nav>Home</nav>
<p>Before.</p>
<h1 id="net">Net of <em>tax</em></h1>
<p>Prices in Z&uuml;rich are<br>net.</p>
<!-- a remark
of two lines -->
<h2>Rates</h2>
<table><tr><th>city</th><th>rate</th></tr><tr><td>Bern</td><td>8.1</td></tr></table>
</body></html>
"""
SAMPLES = {
    ".py": PERCENT, ".qmd": QUARTO, ".rmd": QUARTO, ".md": MYST, ".r": R, ".jl": JULIA, ".sql": SQL, ".sh": BASH,
    ".js": JAVASCRIPT, ".ts": JAVASCRIPT, ".java": JAVA, ".scala": "object Main {\n  def net(x: Int): Int = x\n}\n",
    ".c": CPP, ".cpp": CPP, ".rs": RUST, ".go": GO, ".m": "%% Load\nx = 1;\n%% Net\nfunction y = net(x)\nend\n",
    ".sas": "data work.prices;\n set raw;\nrun;\nproc means data=prices;\nrun;\n", ".tex": LATEX, ".org": ORG,
    ".stan": "data {\n  int N;\n}\nmodel {\n}\n", ".adoc": ASCIIDOC, ".html": HTML,
}  # fmt: skip
