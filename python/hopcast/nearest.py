"""The known word that a wrong one was probably meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import takewhile

LEAST = 0.6
"""The least likeness, from 0 to 1, that makes a suggestion; difflib's own default."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is most like `word`, capital letters or not, or `None` if none is. If both begin with the
    same three letters or more, their share of `word` counts too: `reps` is probably `replications`.
    """
    best, likeness = None, 0.0
    small = word.lower()
    for candidate in known:
        letters = candidate.lower()
        common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(small, letters, strict=False)))
        alike = difflib.SequenceMatcher(None, letters, small).ratio()
        if common >= 3:
            alike = max(alike, common / len(word))
        if alike > likeness:
            best, likeness = candidate, alike
    return best if likeness >= LEAST else None
