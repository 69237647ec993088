"""Which devices of a streaming cloud store which blocks of which clips::

    from hopcast.placement import Clip, grid, place

    homes = grid(25, 40)
    film = Clip(rate=4e6, length=120.0, block=1.0)
    placement = place("near", [film], homes, hop_time=0.75)
    print(f"{placement.saved:.1%} of the storage of full copies is saved")
    print(placement.displays(0, hop_time=0.75)[0])  # what the viewer at device 0 sees of clip 0

Devices and clips have numbers from 0. `cloud.placement` in a scenario uses the same policies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from hopcast import _core
from hopcast.errors import HopcastError

__all__ = ["Clip", "Display", "Map", "Placement", "PlacementError", "Policy", "grid", "place", "string"]

Policy = Literal["full", "uniform", "proportional", "square-root", "near", "anywhere"]
"""How blocks are placed; `place` says what each does."""


class PlacementError(HopcastError):
    """Blocks can't be placed."""


@dataclass(frozen=True)
class Clip:
    """A clip of constant rate, in blocks of equal size."""

    rate: float
    """b/s of the media."""
    length: float
    """Playing time in seconds."""
    block: float
    """Longest playing time of a block in seconds; the clip has `blocks` equal ones."""
    popularity: float = 1.0
    """How often the clip is asked for, in any unit."""

    def __post_init__(self) -> None:
        for name in ("rate", "length", "block"):
            if not (getattr(self, name) > 0 and math.isfinite(getattr(self, name))):
                raise PlacementError(f"{name}: {getattr(self, name)} is no finite number above 0")

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return math.ceil(self.length / self.block)

    @property
    def block_time(self) -> float:
        """Playing time of each block in seconds: D in the paper."""
        return self.length / self.blocks


@dataclass(frozen=True)
class Map:
    """Devices, and which of them reach each other over one hop."""

    devices: int
    """Number of devices, at most 4096."""
    links: Sequence[tuple[int, int]]
    """Pairs of devices."""

    def __post_init__(self) -> None:
        if not 1 <= self.devices <= 4096:
            raise PlacementError(f"devices: {self.devices} is not within 1 … 4096")
        for one, other in self.links:
            if not (0 <= one < self.devices and 0 <= other < self.devices):
                raise PlacementError(f"links: ({one}, {other}): devices have numbers from 0 to {self.devices - 1}")


@dataclass(frozen=True)
class Display:
    """What a viewer sees."""

    start_up: float
    """Seconds from the request to the start."""
    hiccups: int
    """Times that the display waited for a block."""
    stalled: float
    """Seconds that it waited."""


class Placement:
    """Who stores what. `place` makes it."""

    def __init__(self, placed: _core.Placement, clips: Sequence[Clip]) -> None:
        self._placed = placed
        self._clips = clips

    @property
    def saved(self) -> float:
        """The share of the storage of full copies that is saved, from 0 to 1."""
        return self._placed.saved()

    @property
    def stored(self) -> list[int]:
        """Bytes at each device."""
        return self._placed.stored()

    def holders(self, clip: int) -> list[list[int]]:
        """For each block of a clip the devices that store it. Raises `PlacementError` for an unknown clip."""
        return self._placed.holders(self._checked(clip))

    def displays(self, clip: int, *, hop_time: float) -> list[Display | None]:
        """What the viewer at each device sees of a clip, by the model of the 2004 paper.

        A block over d hops comes `hop_time` · d seconds after the request, whatever else is on its way. The display starts with the first
        block, and waits for each block that is late. `None`: no path leads to a block. Raises `PlacementError` for an unknown clip or a
        `hop_time` that is no finite number from 0 on.
        """
        seen = self._placed.displays(self._checked(clip), _time(hop_time))
        return [None if one is None else Display(*one) for one in seen]

    def _checked(self, clip: int) -> int:
        if not 0 <= clip < len(self._clips):
            raise PlacementError(f"clip: {clip} is not within 0 … {len(self._clips) - 1}")
        return clip


def string(devices: int) -> Map:
    """Devices in a row, each of which reaches the next one."""
    return Map(devices, [(device - 1, device) for device in range(1, devices)])


def grid(columns: int, rows: int) -> Map:
    """Devices in rows and columns, each of which reaches up to four others. Device 0 and its row come first."""
    devices = columns * rows
    right = [(device, device + 1) for device in range(devices) if (device + 1) % columns]
    return Map(devices, right + [(device - columns, device) for device in range(columns, devices)])


def place(
    policy: Policy,
    clips: Sequence[Clip],
    devices: Map,
    *,
    copies: int | None = None,
    hop_time: float | None = None,
    seed: int = 1,
) -> Placement:
    """Place the blocks of clips on devices.

    * `full`: all clips at each device.
    * `uniform`: `copies` of each clip, at random devices.
    * `proportional`: `copies` of all clips together, in proportion to popularity.
    * `square-root`: the same, in proportion to the square root of popularity.
    * `near`: of each block as many as it takes that each device has one within H hops.
    * `anywhere`: N − H of each block at random devices, at least one.

    H = ⌊(i − 1) · D / h⌋ for block i, counted from 1, with D the playing time of a block and h = `hop_time`, the seconds that a block takes
    over one hop. N is the number of devices. The last two rules are those of Ghandeharizadeh, Krishnamachari and Song, IEEE Transactions on
    Multimedia 6(2), 2004. `seed` is that of random devices.

    Raises `PlacementError` for values that don't fit the policy.
    """
    if policy not in get_args(Policy):
        raise PlacementError(f"policy: {policy!r} is none of {', '.join(get_args(Policy))}")
    needs_copies = policy in {"uniform", "proportional", "square-root"}
    needs_time = policy in {"near", "anywhere"}
    for name, given, needed in (("copies", copies, needs_copies), ("hop_time", hop_time, needs_time)):
        if (given is not None) != needed:
            problem = "is missing" if needed else "has no effect"
            raise PlacementError(f"{name}: {problem} with policy {policy!r}")
    if copies is not None and not 0 < copies < 2**32:
        raise PlacementError(f"copies: {copies} is not within 1 … {2**32 - 1}")
    known = [(clip.blocks, round(clip.rate * clip.block_time / 8), clip.block_time, clip.popularity) for clip in clips]
    try:
        placed = _core.place_blocks(
            devices.devices, list(devices.links), known, policy, copies or 0, _time(hop_time or 0.0), seed
        )
    except ValueError as problem:
        raise PlacementError(str(problem)) from None
    return Placement(placed, clips)


def _time(seconds: float) -> float:
    if not (math.isfinite(seconds) and seconds >= 0):
        raise PlacementError(f"hop_time: {seconds} is no finite number from 0 on")
    return seconds
