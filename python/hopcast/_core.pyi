"""The simulator. Conversion only: what people use is `hopcast`."""

from collections.abc import Callable, Sequence
from typing import Final, final

__all__ = [
    "ArrowTable",
    "RunResult",
    "Scenario",
    "__version__",
    "frame_error_rates",
    "frame_fading",
    "gilbert_elliott_states",
    "json_schema",
    "link_shadowing",
    "log_distance_gains",
    "path_fading",
    "run",
    "two_ray_interference_gains",
]

__version__: Final[str]

@final
class Scenario:
    @staticmethod
    def from_toml(
        text: str,
        file: str,
        directory: str,
        trace_dirs: list[str],
        overrides: list[str],
        congestion: list[tuple[str, object]],
    ) -> Scenario: ...
    @staticmethod
    def from_json(
        text: str,
        file: str,
        directory: str,
        trace_dirs: list[str],
        overrides: list[str],
        congestion: list[tuple[str, object]],
    ) -> Scenario: ...
    def explain(self) -> list[tuple[str, str, str]]: ...
    @property
    def name(self) -> str: ...
    @property
    def duration_s(self) -> float: ...
    @property
    def seed(self) -> int: ...
    @property
    def sha256(self) -> str: ...

@final
class ArrowTable:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

@final
class RunResult:
    @property
    def seed(self) -> int: ...
    def to_json(self) -> str: ...
    def flows(self) -> ArrowTable: ...
    def nodes(self) -> ArrowTable: ...
    def series(self) -> ArrowTable: ...

def run(
    scenario: Scenario,
    seeds: list[int],
    threads: int,
    out: str | None,
    pcap: bool,
    progress: Callable[[float, float], object] | None,
) -> list[RunResult]: ...
def json_schema() -> str: ...
def frame_error_rates(rate: float, octets: int, snr_db: Sequence[float]) -> list[float]: ...
def log_distance_gains(
    frequency: float, exponent: float, reference_distance: float, distances: Sequence[float]
) -> list[float]: ...
def two_ray_interference_gains(
    frequency: float, antenna_height: float, permittivity: float, horizontal: bool, distances: Sequence[float]
) -> list[float]: ...
def link_shadowing(
    seed: int, deviation: float, decorrelation: float, links: Sequence[tuple[float, float, float, float]]
) -> list[float]: ...
def frame_fading(distribution: str, parameter: float, seed: int, count: int) -> list[float]: ...
def path_fading(
    distribution: str, parameter: float, seed: int, a: int, b: int, turns: Sequence[float]
) -> list[float]: ...
def gilbert_elliott_states(
    good_mean: float, bad_mean: float, seed: int, node: int, seconds: float
) -> list[tuple[float, bool]]: ...
