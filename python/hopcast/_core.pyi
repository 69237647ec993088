"""The simulator. Conversion only: what people use is `hopcast`."""

from collections.abc import Callable, Sequence
from typing import Final, Self, final

__all__ = [
    "ArrowTable",
    "Placement",
    "RunResult",
    "Scenario",
    "Stream",
    "StreamReceiver",
    "StreamSender",
    "Streams",
    "__version__",
    "capture_size",
    "examples",
    "frame_error_rates",
    "frame_fading",
    "gilbert_elliott_states",
    "json_schema",
    "link_shadowing",
    "live",
    "log_distance_gains",
    "path_fading",
    "place_blocks",
    "results_schema",
    "run",
    "split_address",
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
        extensions: list[tuple[str, str, object]],
    ) -> Scenario: ...
    @staticmethod
    def from_json(
        text: str,
        file: str,
        directory: str,
        trace_dirs: list[str],
        overrides: list[str],
        extensions: list[tuple[str, str, object]],
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
class Stream:
    """A stream of random numbers. `Stream(seed)` is one that no run uses, for tests by hand."""

    def __new__(cls, seed: int) -> Self: ...
    def next_u64(self) -> int:
        """64 uniform bits."""
    def below(self, bound: int) -> int:
        """Uniform in 0 ≤ x < `bound`, which is below 2³². A bound of zero gives zero."""
    def unit(self) -> float:
        """Uniform in 0 ≤ x < 1, a multiple of 2⁻⁵³."""

@final
class Streams:
    """Streams of random numbers, one for each thing that draws. `Streams(seed)` are some that no run uses, for tests by hand."""

    def __new__(cls, seed: int) -> Self: ...
    def stream(self, number: int) -> Stream:
        """The stream of the thing with this number, which is below 2⁶⁴; from its beginning at each call."""

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
    def conversations(self) -> ArrowTable: ...
    def rtp(self) -> ArrowTable: ...
    def streams(self) -> ArrowTable: ...
    def conversation_series(self) -> ArrowTable: ...

def run(
    scenario: Scenario,
    seeds: list[int],
    threads: int,
    out: str | None,
    captures: tuple[list[str] | None, bool, bool] | None,
    record: bool,
    progress: Callable[[float, float], object] | None,
) -> list[RunResult]: ...
def capture_size(
    scenario: Scenario, seed: int, captures: tuple[list[str] | None, bool, bool], patience: float
) -> tuple[int, int, float] | None: ...
def live(arguments: list[str], load: Callable[[list[str]], Sequence[tuple[str, str, object]]]) -> int: ...
def json_schema() -> str: ...
def results_schema() -> str: ...
def examples() -> list[tuple[str, str]]: ...
def frame_error_rates(standard: str, rate: float, octets: int, snr_db: Sequence[float]) -> list[float]: ...
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

@final
class Placement:
    def holders(self, clip: int) -> list[list[int]]: ...
    def stored(self) -> list[int]: ...
    def saved(self) -> float: ...
    def displays(self, clip: int, hop_time: float) -> list[tuple[float, int, float] | None]: ...

def place_blocks(
    devices: int,
    links: Sequence[tuple[int, int]],
    clips: Sequence[tuple[int, int, float, float]],
    policy: str,
    copies: int,
    hop_time: float,
    seed: int,
) -> Placement: ...

@final
class StreamSender:
    def __new__(
        cls,
        variant: str,
        correction: tuple[int, int] | None,
        patience_s: float | None,
        key: str | None,
        now: int,
    ) -> Self: ...
    def room(self) -> int: ...
    def handle_packet(self, packet: bytes, now: int) -> bool: ...
    def handle_datagram(self, datagram: bytes, now: int) -> None: ...
    def handle_end(self, now: int) -> None: ...
    def handle_stop(self, now: int) -> None: ...
    def handle_timeout(self, now: int) -> None: ...
    def poll_timeout(self) -> int | None: ...
    def poll_output(
        self, now: int
    ) -> tuple[str, bytes | None, tuple[str, int, int, int] | None, str | None] | None: ...
    def statistics(self, now: int) -> str: ...

def split_address(text: str) -> tuple[str, int | None] | None: ...

@final
class StreamReceiver:
    def __new__(cls, variant: str, playout_s: float, key: str | None, now: int) -> Self: ...
    def handle_datagram(
        self, datagram: bytes, now: int, host: str, port: int, flowinfo: int = 0, scope_id: int = 0
    ) -> None: ...
    def handle_stop(self, now: int) -> None: ...
    def handle_timeout(self, now: int) -> None: ...
    def poll_timeout(self) -> int | None: ...
    def poll_output(
        self, now: int
    ) -> tuple[str, bytes | None, tuple[str, int, int, int] | None, str | None] | None: ...
    def statistics(self, now: int) -> str: ...
