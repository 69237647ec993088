"""Samples of the unit cube: Latin hypercube and Sobol' points.

The points are a function of the seed and the names of the keys alone: they are computed with whole numbers and SHA-256,
so that every machine and every version of Python gives the same ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

BITS = 32
"""Binary digits of a coordinate."""
METHODS = ("sobol", "latin-hypercube")

DIRECTIONS: tuple[tuple[int, tuple[int, ...]], ...] = (
    (3, (1,)),
    (7, (1, 3)),
    (11, (1, 3, 1)),
    (13, (1, 1, 1)),
    (19, (1, 1, 3, 3)),
    (25, (1, 3, 5, 13)),
    (37, (1, 1, 5, 5, 17)),
    (41, (1, 1, 5, 5, 5)),
    (47, (1, 1, 7, 11, 19)),
    (55, (1, 1, 5, 1, 1)),
    (59, (1, 1, 1, 3, 11)),
    (61, (1, 3, 5, 5, 31)),
    (67, (1, 3, 3, 9, 7, 49)),
    (91, (1, 1, 1, 15, 21, 21)),
    (97, (1, 3, 1, 13, 27, 49)),
    (103, (1, 1, 1, 15, 7, 5)),
    (109, (1, 3, 1, 15, 13, 25)),
    (115, (1, 1, 5, 5, 19, 61)),
    (131, (1, 3, 7, 11, 23, 15, 103)),
    (137, (1, 3, 7, 13, 13, 15, 69)),
    (143, (1, 1, 3, 13, 7, 35, 63)),
    (145, (1, 3, 5, 9, 1, 25, 53)),
    (157, (1, 3, 1, 13, 9, 35, 107)),
    (167, (1, 3, 1, 5, 27, 61, 31)),
    (171, (1, 1, 5, 11, 19, 41, 61)),
    (185, (1, 3, 5, 3, 3, 13, 69)),
    (191, (1, 1, 7, 13, 1, 19, 1)),
    (193, (1, 3, 7, 5, 13, 19, 59)),
    (203, (1, 1, 3, 9, 25, 29, 41)),
    (211, (1, 3, 5, 13, 23, 1, 55)),
    (213, (1, 3, 7, 3, 13, 59, 17)),
    (229, (1, 3, 1, 3, 5, 53, 69)),
    (239, (1, 1, 5, 5, 23, 33, 13)),
    (241, (1, 1, 7, 7, 1, 61, 123)),
    (247, (1, 1, 7, 9, 13, 61, 49)),
    (253, (1, 3, 3, 5, 3, 55, 33)),
    (285, (1, 3, 1, 15, 31, 13, 49, 245)),
    (299, (1, 3, 5, 15, 31, 59, 63, 97)),
    (301, (1, 3, 1, 11, 11, 11, 77, 249)),
)
"""Primitive polynomial over GF(2), with all of its coefficients as bits, and the initial numbers m₁, m₂, … of each
dimension after the first: S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better two-dimensional projections",
SIAM J. Sci. Comput. 30 (2008), file new-joe-kuo-6.
"""
MOST = len(DIRECTIONS) + 1
"""Largest number of dimensions of `sobol`."""


def points(method: str, size: int, names: Sequence[str], seed: int) -> list[tuple[float, ...]]:
    """`size` points with a coordinate in 0 ≤ u < 1 for each name."""
    made: Callable[[int, Sequence[str], int], list[tuple[float, ...]]] = sobol if method == "sobol" else latin_hypercube
    return made(size, names, seed)


def latin_hypercube(size: int, names: Sequence[str], seed: int) -> list[tuple[float, ...]]:
    """Latin hypercube: in each dimension, one point at a random place in each of `size` equal intervals (M. McKay,
    R. Beckman and W. Conover, Technometrics 21, 1979).
    """
    columns = []
    for name in names:
        order = sorted(range(size), key=lambda index, name=name: _draw(seed, name, "order", index))  # type: ignore[misc]
        places = (_draw(seed, name, "place", index) / 2**64 for index in range(size))
        columns.append(
            [min((rank + place) / size, 1.0 - 2.0**-BITS) for rank, place in zip(order, places, strict=True)]
        )
    return list(zip(*columns, strict=True))


def sobol(size: int, names: Sequence[str], seed: int) -> list[tuple[float, ...]]:
    """The first points of the Sobol' sequence in Gray-code order, each coordinate XORed with a random number: a digital
    shift, which keeps how evenly the points lie, and moves the first one away from the corner. A power of two is the
    best size.
    """
    shifts = [_draw(seed, name, "shift", 0) >> (64 - BITS) for name in names]
    numbers = [_directions(dimension) for dimension in range(len(names))]
    state, found = [0] * len(names), []
    for index in range(size):
        found.append(tuple((at ^ shift) / 2**BITS for at, shift in zip(state, shifts, strict=True)))
        lowest_zero = (~index & (index + 1)).bit_length() - 1
        state = [at ^ of[lowest_zero] for at, of in zip(state, numbers, strict=True)]
    return found


def _directions(dimension: int) -> list[int]:
    """Direction numbers of a dimension, scaled by 2^32 (equations 2 and 3 of Joe and Kuo)."""
    if dimension == 0:
        return [1 << (BITS - 1 - index) for index in range(BITS)]
    polynomial, initial = DIRECTIONS[dimension - 1]
    degree = polynomial.bit_length() - 1
    numbers = [m << (BITS - 1 - index) for index, m in enumerate(initial)]
    for index in range(degree, BITS):
        value = numbers[index - degree] ^ (numbers[index - degree] >> degree)
        for k in range(1, degree):
            if polynomial >> (degree - k) & 1:
                value ^= numbers[index - k]
        numbers.append(value)
    return numbers


def _draw(seed: int, name: str, purpose: str, index: int) -> int:
    """64 uniform bits, keyed by what they are for: another key does not change those of this one."""
    return int.from_bytes(hashlib.sha256(f"{seed} {purpose} {index} {name}".encode()).digest()[:8], "big")
