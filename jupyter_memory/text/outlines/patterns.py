"""The outlines of languages of code, by the lines that begin their functions and types.

A pattern says where a block begins and what it is called; indentation says how deep it is. That is less than a parser
knows, and enough to say where a chunk is. It also works in code that no parser would read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from jupyter_memory.text.outlines.blocks import Block

# More blocks than any file has that a person wrote, and the deepest column at which a method begins.
_MOST = 20_000
_DEEPEST = 8
# Lines of comments and annotations above a block.
_ABOVE = 40
_LONGEST_NAME = 120
# In these patterns a blank is one or more blanks or tabs, and a blank with an asterisk is any number of them.
# Words before a parenthesis that begin a statement, not a function.
_STATEMENTS = r"(?!(?:if|for|while|switch|catch|return|else|do|try|new|throw|case|await|yield|import|using|typedef)\b)"
_NAME_AND_PARAMETERS = r"[^\n;={}()#\"']{0,160}?(?<![\w:~$])([\w:~$]+) *\("
# A method in a language with braces, and a function at the beginning of a line: neither ends like a statement.
_METHOD = rf"{_STATEMENTS}[A-Za-z_~]{_NAME_AND_PARAMETERS}[^\n;]*\{{ *$"
_FUNCTION = rf"(?<!.){_STATEMENTS}[A-Za-z_]{_NAME_AND_PARAMETERS}[^\n;]*$"
_JAVASCRIPT = (
    r"(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:async )?"
    r"(?:function\*?|class|interface|enum|namespace|type) ([\w$]+)"
    r"|(?:export )?(?:const|let|var) ([\w$]+)[^\n=]{0,200}= *(?:async\b *)?(?:\(|function\b|[\w$]+ *=>)"
    rf"|{_METHOD}"
)
_ACCESS = r"(?:(?:public|protected|private|internal|static|final|abstract|sealed|implicit|override|lazy|inline) ){0,6}"
_CREATED = r"(?:table|view|function|procedure|index|trigger|schema|type|sequence|macro)"
_HOW = r"(?:(?:global|local|temp|temporary|unique|materialized|external|transient) ){0,3}"
_PATTERNS = {
    "r": r"([\w.]+) *(?:<<?-|=) *(?:function\b|R6Class\b|\\\()"
    r"|set(?:Class|Generic|Method|RefClass)\( *[\"']([\w.]+)|#+ ([^\n#=-]{1,80})[-=#]{4,} *$",
    "julia": r"(?:function|macro|struct|mutable struct|abstract type|(?:bare)?module) ([\w.!]+)"
    r"|(?<!.)([\w.!]+)\([^\n=]{0,200}\) *=(?!=)",
    "sql": rf"create (?:or replace )?{_HOW}{_CREATED} (?:if not exists )?([\w.\"`\[\]]+)"
    r"|(?<!.)(?:select\b|(?:with|insert into|update|delete from|merge into|alter table)\b *([\w.]*))",
    "bash": r"function ([\w:.-]+)|([\w:.-]+) *\(\)",
    "javascript": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "java": rf"{_ACCESS}(?:class|interface|enum|record|@interface) (\w+)|{_METHOD}",
    "scala": rf"(?:case )?{_ACCESS}(?:case )?(?:def|class|object|trait|enum|given) (\w+)",
    "c": rf"(?:typedef )?(?:struct|enum|union) (\w+)[^\n;]*$|# *define (\w+)\(|{_FUNCTION}",
    "cpp": r"(?:typedef )?(?:class|struct|enum(?: class)?|union|namespace) ([\w:]+)[^\n;]*$"
    rf"|{_FUNCTION}|{_METHOD}",
    "rust": r"(?:pub(?:\([^)\n]{0,40}\))? )?(?:(?:async|unsafe|const|default|extern \"C\") ){0,4}"
    r"(?:fn|struct|enum|trait|mod|union|macro_rules!) (\w+)|(impl\b[^\n{;]{1,100})",
    "go": r"func (?:\([^)\n]{0,100}\) *)?(\w+)|type (\w+)",
    "matlab": r"function (?:[^\n=(]{0,100}= *)?([\w.]+)|classdef (?:\([^)\n]{0,100}\) *)?(\w+)",
    "sas": r"(proc \w+|data [\w.&]+|%macro \w+)",
    "stan": r"((?:transformed )?(?:functions|data|parameters|model)|generated quantities) *\{",
}
_WITHOUT_CASE = frozenset({"sql", "sas"})
_BLANK = re.compile(r" (\*?)")


def _compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return the pattern of a line that begins a block, not too far to the right."""
    spaced = _BLANK.sub(lambda found: r"[ \t]*+" if found[1] else r"[ \t]++", pattern)
    return re.compile(rf"^(?P<indent>[ \t]{{0,{_DEEPEST}}}+)(?:{spaced})", re.MULTILINE | flags)


_BEGINNINGS = {
    lang: _compiled(pattern, re.IGNORECASE if lang in _WITHOUT_CASE else 0) for lang, pattern in _PATTERNS.items()
}
# A line that closes a block; what comes after it is outside.
_CLOSING = (
    re.compile(r"^(?:[}\])]|end\b)[^\n]*+\n?", re.MULTILINE),
    re.compile(r"^[ \t]{0,8}+(?:[}\])]|end\b)[^\n]*+\n?", re.MULTILINE),
)
# What may stand in the lines above a block and belongs to it.
_COMMENTS = ("#", "//", "--", "/*", "*", "%", "@", "'''", '"""', "[[")


def code_blocks(lang: str, text: str) -> list[Block]:
    """Return the blocks of a source in one of the known languages, none for another language.

    >>> [(one.level, one.name) for one in code_blocks("go", "func (s *Store) Add() {\\n}\\ntype Store struct {")]
    [(1, 'Add'), (1, 'Store')]
    """
    pattern = _BEGINNINGS.get(lang)
    if pattern is None:
        return []
    found = list(islice(_begun(pattern, text), _MOST))
    after = [len(text)] * 3
    blocks = []
    for start, at, level, name in reversed(found):
        limit = min(after[1 : level + 1])
        closed = _CLOSING[level - 1].search(text, at, limit)
        blocks.append(Block(start, closed.end() if closed else limit, level, name))
        after[level] = start
    return blocks[::-1]


def _begun(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int, int, str]]:
    """Yield where each block begins with its comments and without them, its level and its name."""
    last = 0
    for match in pattern.finditer(text):
        name = next((group for group in match.groups()[1:] if group), "")
        start = max(last, _with_comments(text, match.start()))
        last = match.end()
        yield start, match.end(), 2 if match["indent"] else 1, " ".join(name.split())[:_LONGEST_NAME]


def _with_comments(text: str, start: int) -> int:
    """Return where the comments and annotations right above a line begin."""
    for _ in range(_ABOVE):
        above = text.rfind("\n", 0, start - 1) + 1
        if start == 0 or not text[above:start].lstrip().startswith(_COMMENTS):
            return start
        start = above
    return start
