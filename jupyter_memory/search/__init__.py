"""How a query becomes an answer: retrieval, signals, fusion, post-processing and presentation."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "confidence.calibration": "calibrate",
        "confidence.strength": "Confidence verdict",
        "engine": "SearchEngine SearchRequest",
        "fixes.failures": "EARLIER",
        "fixes.fixing_runs": "AFTER",
        "fixes.lookup": "KnownErrors",
        "fusion": "ReciprocalRank weights_of with_weights",
        "postprocessing": "newer_first",
        "presentation.notices": "with_notices",
        "presentation.prompts.budget": "BUDGET PromptText checked_budget",
        "presentation.prompts.prompt_text": "prompt_text",
        "presentation.prompts.quoting": "CAUTION Quotes quotes_for reads_like_instructions seen",
        "presentation.reasons": "all_reasons labels why_here",
        "profiles": "profile_named",
        "profiles.adaptive": "adapted",
        "profiles.builtin": "PROFILES vault",
        "profiles.own_lists": "RerankWeights Scored TimeAnchor dedup fuse fuse_scores rerank",
        "profiles.profile": "Profile constants",
        "query.filter_syntax": "TIMES",
        "query.filters": "filters_from from_folder",
        "query.parser": "parse",
        "query.vectors": "QueryVectors",
        "retrieval": "RETRIEVERS",
        "runs": "Pooled",
    },
)
