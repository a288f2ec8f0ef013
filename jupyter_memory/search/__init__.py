"""How a query becomes an answer: retrieval, signals, fusion, post-processing and presentation."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "confidence": "CONSTANTS Confidence calibrate coverage_of verdict",
        "context": "RETRIEVERS",
        "engine": "Pooled QueryVectors SearchEngine SearchRequest",
        "explanation": "explained labels",
        "fixes": "AFTER EARLIER SURE KnownErrors",
        "fusion": (
            "Deduplicate DeduplicateFiles DeduplicateRuns MinMax ReciprocalRank ReciprocalValue Weighted "
            "newer_first weights_of with_weights"
        ),
        "presentation": "snippet with_notices",
        "profiles": "profile_named",
        "profiles.own_lists": "RerankWeights Scored TimeAnchor dedup fuse fuse_scores rerank",
        "profiles.profile": (
            "PROFILES OverFetch Profile adapted alike auto constants covalence memini memini_rrf trovella vault"
        ),
        "prompt": "BUDGET CAUTION PromptText Quotes checked_budget prompt_text quotes_for reads_like_instructions seen",
        "receipt": "Receipt receipt_of",
        "query.parser": "TIMES filters_from from_folder parse",
        "signals.lexical": "Aside Cosine DefinedNames Defines FileStem OwnWords TfIdf Title TitleMatch WordScore",
        "signals.metadata": (
            "Domain LengthPenalty NamedTime NearTime Neighbour OfKind Quality QuestionPenalty Recency Session "
            "Severity Tags Tier TierOfRuns Validity"
        ),
        "signals.semantic": "BestPassage MaxSim SemanticMargin",
    },
)
