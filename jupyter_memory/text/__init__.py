"""Text without input or output: identifiers, dates, paths, headings and stop words."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "code": (
            "EVERYDAY PYTHON Definitions Place Words cell_language changed_names definitions "
            "definitions_and_places features is_code kernel_language known_language language look name_of origins "
            "own_nodes statement_at syntax_tree telling_line words_of"
        ),
        "date_phrases": "Named named_at unit_of",
        "dates": "CARDINAL ORDINAL Period age cardinal ordinal to_utc wall_clock whole zone_of",
        "display": (
            "Entry Paint WholeText coloured columns count_of fit fit_end has_colours html listing "
            "percent preview size unpainted visible width"
        ),
        "errors": "Raised Signature fixed message_words quoted read_traceback signature",
        "identifiers": (
            "COLUMNS IDENTIFIER LONGEST_NAME MOST_OF_FILE MOST_TAGS bigrams ident_column is_compound "
            "parts pictures plainer runs short short_path telling_bigrams without_cjk without_file "
            "words_within"
        ),
        "languages": (
            "LANGUAGES LONGEST_TOKEN SHORTEST STOP_WORDS Prose asked_in estimated_tokens forms halves is_form "
            "without_elision"
        ),
        "markdown": (
            "LINE Heading context day descend embedded_head embedding_text first_line first_words front_matter "
            "heading_of headings headings_above is_markdown is_position outputs_of paths plain source_of under "
            "with_outputs words_above"
        ),
        "moments": "goes_on last_moment moment parse_day parse_moment",
        "outlines": "Block around outline stretches",
        "paths": (
            "DatabaseAddress StorePath absolute called_before database_address inside is_address is_at_or_below "
            "is_from_root is_missing make_private may_exist normal path_forms plain_path pure store_at write_new "
            "write_private"
        ),
        "runnable": "Runnable Step made_runnable",
        "unicode": "clean encodable json_text marked storable uncoloured without_data",
    },
)
