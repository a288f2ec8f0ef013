"""Every regular expression of the package against the texts that it takes longest for: none may be quadratic."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from itertools import islice

from growing import cpu, cpu_exponent
from patterns_found import Found, patterns
from worst_texts import worst

from campaign import Dose, Figures, Loss

# Characters of a text: what is quadratic takes tenths of a second for so many, and what is linear a millisecond.
_LENGTH = 8_000
_SLOW = 0.02
# Quadratic is 2.
_MOST = 1.5
# No more characters than these reach a pattern, by what its name holds: its room, its topic, its own name.
BOUNDED: dict[str, int] = {
    r"\.search\..*\._VERSION$": 255,
    r"\.search\..*(temporal|sessions)": 500,
    r"\.text\..*date": 500,
    r"\.text\..*\._FRAMES$": 4_000,
    r"\.ingest\.readers\..*(data|tables)": 255,
}


def run(dose: Dose) -> Figures:
    """Try texts generated from each pattern; raise for the first that grows with the square of the length."""
    random, tried = dose.random(), 0
    found = patterns()
    for one in found:
        texts, most = list(islice(worst(one.pattern), 20_000)), dose.times(2_000, least=20)
        for before, body, end in texts if len(texts) <= most else random.sample(texts, most):
            tried += 1
            if power := slow(one, before, body, end):
                raise Loss(f"{one.name} grows with the power {power:.1f}: {before!r} + {body!r} * n + {end!r}")
    return {"patterns": len(found), "texts": tried}


def slow(found: Found, before: str, body: str, end: str) -> float:
    """Return the power by which the time for a text grows with its length, 0 where it is no more than linear."""
    longest = min((most for name, most in BOUNDED.items() if re.search(name, found.name)), default=16 * _LENGTH)

    def work(size: int) -> Callable[[], object]:
        text = before + body * (size // len(body)) + end
        return lambda: _apply(found, text)

    if cpu(work(min(_LENGTH, longest)), 1) < _SLOW:
        return 0.0
    # What other processes of the machine disturbed is measured again, and counts if it never was faster.
    power = cpu_exponent(work, min(_LENGTH, longest) // 4, longest)
    if power > _MOST:
        power = min(power, cpu_exponent(work, min(_LENGTH, longest) // 4, longest, tries=6))
    return power if power > _MOST else 0.0


def _apply(found: Found, text: str) -> None:
    if found.everywhere:
        deque(found.pattern.finditer(text), maxlen=0)
    else:
        found.pattern.match(text)
        found.pattern.fullmatch(text)
