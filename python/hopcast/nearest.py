"""The known word that a wrong one was probably meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import takewhile

LEAST = 0.6
"""The least likeness, from 0 to 1, that makes a suggestion; difflib's own default."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is most like `word`, or `None` if none is. If both begin with the same three letters or
    more, their share of `word` counts too: `reps` is probably `replications`.
    """
    best, likeness = None, 0.0
    for candidate in known:
        common = sum(1 for _ in takewhile(lambda letters: letters[0] == letters[1], zip(word, candidate, strict=False)))
        alike = difflib.SequenceMatcher(None, candidate, word).ratio()
        if common >= 3:
            alike = max(alike, common / len(word))
        if alike > likeness:
            best, likeness = candidate, alike
    return best if likeness >= LEAST else None
