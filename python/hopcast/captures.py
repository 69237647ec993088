"""What a run captures, and how large that will be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hopcast import _core

if TYPE_CHECKING:
    from hopcast.scenario import Scenario


@dataclass(frozen=True)
class Size:
    """About how large the captures of a run will be."""

    bytes: int
    """All files together."""
    files: int
    simulated_s: float
    """The simulated time that was tried, in seconds. If it is the scenario's `duration`, the size is exact."""


@dataclass(frozen=True)
class Captures:
    """What a run captures: `pcap=Captures(nodes=["ap"], addressed=True)`."""

    nodes: Sequence[str] | None = None
    """The nodes that have a capture; `None` for all of them."""
    addressed: bool = False
    """Leave out frames that a node heard though they were sent to another node."""
    medium: bool = False
    """Also write `medium.pcapng`: all frames of all radios, each once, as it was sent."""

    def size(
        self, scenario: Scenario, *, seed: int | None = None, replications: int = 1, patience: float = 1.0
    ) -> Size | None:
        """How large the captures of `replications` runs will be.

        It runs the first replication for `patience` seconds or to its end, and takes the rate in the second half of that
        time for the rest. `None` if the run could not be prepared in that time. Raises `ValueError` for the name of a node
        that the scenario does not have.
        """
        first = scenario.seed if seed is None else seed
        found = _core.capture_size(scenario._core_of_a_run(), first, self._arguments(), patience)
        if found is None:
            return None
        size, files, simulated = found
        return Size(bytes=size * replications, files=files * replications, simulated_s=simulated)

    def _arguments(self) -> tuple[list[str] | None, bool, bool]:
        return None if self.nodes is None else list(self.nodes), self.addressed, self.medium


def arguments_of(pcap: bool | Captures) -> tuple[list[str] | None, bool, bool] | None:
    """What the extension module takes; `None` for no captures."""
    if isinstance(pcap, Captures):
        return pcap._arguments()
    return Captures()._arguments() if pcap else None
