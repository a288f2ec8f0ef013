"""The signals: each judges the candidates of a search for one reason."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "lexical": "Aside Cosine DefinedNames Defines FileStem OwnWords TfIdf Title TitleMatch WordScore",
        "metadata": (
            "Domain LengthPenalty NamedTime NearTime Neighbour OfKind Quality QuestionPenalty Recency Session "
            "Severity Tags Tier TierOfRuns Validity"
        ),
        "semantic": "BestPassage MaxSim SemanticMargin",
    },
)
