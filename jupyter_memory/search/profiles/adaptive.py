"""A profile that leans on one of its terms by how often its hits were what people looked for."""

from __future__ import annotations

from jupyter_memory.search.fusion import weights_of, with_weights
from jupyter_memory.search.postprocessing import Alone
from jupyter_memory.search.profiles.profile import Profile
from jupyter_memory.types.protocols import Term

# Fewer verdicts than these say nothing yet.
LEAST = 30
# Of an accept rate of 0 or 1 comes a shift of 0.15, the most there is.
SLOPE = 0.30


def adapted(profile: Profile, accepted: int, judged: int) -> Profile:
    """Return a profile as ``accepted`` of ``judged`` hits have made it (seed system `vault`; the slope is ours).

    From 30 verdicts on, 0.30 * (accept rate - 0.5) is added to the weight of its ``adaptive`` term; the others are
    scaled so that the sum of the weights stays what it was. A term that counts alone where it speaks is not among them.
    What comes back adapts no further.
    """
    if judged < LEAST or profile.adaptive not in {term.name for term in profile.terms}:
        return profile
    shift = SLOPE * (accepted / judged - 0.5)
    fixed = {step.term for step in profile.steps if isinstance(step, Alone)}
    return profile.replace(
        adaptive="",
        terms=_shifted(profile.terms, profile.adaptive, shift, fixed),
        keyword_only=_shifted(profile.keyword_only, profile.adaptive, shift, fixed),
    )


def _shifted(terms: tuple[Term, ...], name: str, shift: float, fixed: set[str]) -> tuple[Term, ...]:
    weights = {other: weight for other, weight in weights_of(terms).items() if other not in fixed}
    if name not in weights:
        return terms
    own, whole = weights[name], sum(weights.values())
    leaning = min(max(own + shift, 0.0), whole)
    scale = (whole - leaning) / (whole - own) if whole != own else 1.0
    new = {other: leaning if other == name else weight * scale for other, weight in weights.items()}
    return with_weights(terms, new)
