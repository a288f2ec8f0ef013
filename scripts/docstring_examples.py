"""Let mkdocstrings show the doctests at the end of a docstring as code; it knows them only below `Examples:`."""

from textwrap import indent

import griffe


class Examples(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        if obj.docstring:
            text, prompt, example = obj.docstring.value.partition("\n>>> ")
            if prompt:
                obj.docstring.value = f"{text}\n\nExamples:\n{indent(prompt.strip() + ' ' + example, '    ')}"
