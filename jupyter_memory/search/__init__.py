"""How a query becomes an answer: retrieval, signals, fusion, post-processing and presentation."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "confidence.calibration": "calibrate",
        "confidence.coverage": "Coverage",
        "confidence.strength": "Confidence verdict",
        "context": "SearchContext",
        "engine": "SearchEngine SearchRequest",
        "fixes.failures": "EARLIER",
        "fixes.fixing_runs": "AFTER",
        "fixes.lookup": "KnownErrors",
        "fusion": "MinMax ReciprocalRank ReciprocalValue Weighted weights_of with_weights",
        "postprocessing": "Deduplicate DeduplicateFiles DeduplicateRuns newer_first",
        "presentation.code_snippets": "code_snippet",
        "presentation.notices": "with_notices",
        "presentation.prompts.budget": "BUDGET PromptText checked_budget",
        "presentation.prompts.prompt_text": "prompt_text",
        "presentation.prompts.quoting": "CAUTION Quotes quotes_for reads_like_instructions seen",
        "presentation.reasons": "all_reasons labels why_here",
        "presentation.snippets": "snippet",
        "profiles": "profile_named",
        "profiles.adaptive": "adapted",
        "profiles.builtin": "PROFILES auto covalence memini memini_rrf trovella vault",
        "profiles.own_lists": "RerankWeights Scored TimeAnchor dedup fuse fuse_scores rerank",
        "profiles.profile": "OverFetch Profile constants",
        "query.filter_syntax": "TIMES",
        "query.filters": "filters_from from_folder",
        "query.parser": "parse",
        "query.vectors": "QueryVectors",
        "retrieval": "RETRIEVERS",
        "runs": "Pooled",
        "signals": (
            "Aside BestPassage Cosine DefinedNames Defines Domain FileStem LengthPenalty MaxSim NamedTime NearTime "
            "Neighbour OfKind OwnWords Quality QuestionPenalty Recency SemanticMargin Session Severity Tags TfIdf Tier "
            "Title TitleMatch Validity WordScore"
        ),
        "signals.max_sim": "max_sim",
    },
)
