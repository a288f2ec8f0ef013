"""Text without input or output: identifiers, dates, paths, headings and stop words."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "addresses": "DatabaseAddress StorePath database_address is_address may_exist store_at",
        "code.definitions": "Definitions Place definitions definitions_and_places syntax_tree",
        "code.figures": "look",
        "code.languages": "EVERYDAY PYTHON cell_language is_code kernel_language known_language language",
        "code.statements": "Words changed_names features origins own_nodes statement_at words_of",
        "dates.ages": "age",
        "dates.calendars": "Period to_utc wall_clock whole zone_of",
        "dates.moments": "goes_on moment parse_day parse_moment",
        "dates.numerals": "CARDINAL ORDINAL cardinal ordinal",
        "dates.phrases": "named_at",
        "dates.vocabulary": "Named unit_of",
        "errors.signatures": "Signature fixed message_words quoted signature",
        "errors.tracebacks": "Frame Raised read_traceback",
        "headings": "Heading descend front_matter headings paths",
        "identifiers": "COLUMNS IDENTIFIER ident_column ident_columns is_compound parts plainer",
        "layout": "columns count_of fit fit_end html one_line percent preview size visible width",
        "names": "MOST_OF_FILE MOST_TAGS short short_path without_file words_within",
        "outlines.blocks": "Block around",
        "outlines.outline": "outline stretches",
        "paths": (
            "absolute called_before inside is_at_or_below is_from_root is_missing make_private normal pure spelling"
        ),
        "rendering.colours": "Paint coloured has_colours",
        "rendering.listing": "Entry listing",
        "rendering.markdown": "first_words is_markdown plain",
        "rendering.whole_text": "WholeText",
        "structure": (
            "LINE context day embedded_head embedding_text first_line heading_of headings_above is_position "
            "outputs_of source_of under with_outputs words_above"
        ),
        "unicode": "clean encodable json_text marked storable without_data",
        "words.cjk": "bigrams runs telling_bigrams without_cjk",
        "words.inflection": "SHORTEST forms halves is_form",
        "words.prose": "LANGUAGES Prose asked_in without_elision",
        "words.stopwords": "STOP_WORDS",
        "words.token_estimate": "estimated_tokens",
    },
)
