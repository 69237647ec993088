"""Runs of a sweep in a folder, as Parquet files that appear whole.

Each finished run is a file with its name, `run-NAME.parquet`, written by the process that ran it. `compact` puts many of them in one
file, `part-….parquet`, and removes them afterwards; so a run may be there twice for a moment, and never not at all.
A file has a row for each run, with the columns `run`, `seed`, `flows`, `nodes` (lists of records) and `totals` (a record).
Several processes may use one folder.
"""

from __future__ import annotations

import hashlib
import io
import os
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopcast.errors import HopcastError, RunError
from hopcast.output import write

if TYPE_CHECKING:
    import polars

    from hopcast.results import Result

COLUMNS = ("run", "seed", "flows", "nodes", "totals")
MAGIC = b"PAR1"
"""The first and last bytes of every Parquet file."""
ATTEMPTS = 100
"""How often the folder is listed again because a file has been put in another one meanwhile."""
MANY = 512
"""Files of single runs that are put in one part at a time."""
STALE_S = 86_400.0
"""Age at which an unfinished file is what a killed process left."""


class DamagedPart(HopcastError):
    """A file of a sweep's folder is not one that hopcast wrote, or was cut off."""


class Parts:
    """The runs in a folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def path(self, run: str) -> Path:
        """The file of a single run."""
        return self.folder / f"run-{run}.parquet"

    def put(self, run: str, frame: polars.DataFrame) -> None:
        """Keep a run that has finished. Raises `RunError`."""
        _write(self.path(run), frame, sync=False)

    def has_file(self, run: str) -> bool:
        """Whether the run has a separate file."""
        return _is_whole(self.path(run))

    def finished(self) -> set[str]:
        """Names of the runs in the folder. A damaged file is moved aside, so that its runs are repeated."""
        found: set[str] = set()
        for path in self._files():
            if path.name.startswith("run-"):
                if _is_whole(path):
                    found.add(path.stem.removeprefix("run-"))
                elif path.exists():
                    self._put_aside(path)
                continue
            try:
                found.update(_read(path, ["run"])["run"])
            except FileNotFoundError:
                # Parts are joined in a single larger one: look again.
                return self.finished()
            except DamagedPart:
                self._put_aside(path)
        return found

    def load(self, wanted: Collection[str]) -> polars.DataFrame | None:
        """The wanted runs that are in the folder, each once, in no particular order; `None` if there are none. Raises
        `DamagedPart`.
        """
        wanted = frozenset(wanted)
        for _ in range(ATTEMPTS):
            with suppress(FileNotFoundError):
                return self._load(wanted)
        raise RunError(f"{self.folder}: its files change faster than they can be read")

    def _load(self, wanted: frozenset[str]) -> polars.DataFrame | None:
        import polars

        frames = []
        for path in self._files():
            single = path.name.startswith("run-")
            if single and path.stem.removeprefix("run-") not in wanted:
                continue
            frame = _read(path)
            if not single:
                frame = frame.filter(polars.col("run").is_in(list(wanted)))
            if not frame.is_empty():
                frames.append(frame)
        if not frames:
            return None
        try:
            return polars.concat(frames).unique("run", keep="any")
        except polars.exceptions.PolarsError as error:
            raise DamagedPart(f"{self.folder}: its parts don't fit together: {error}") from None

    def compact(self, least: int = 2) -> None:
        """Put the files of single runs in larger parts, if there are `least` of them. Raises `RunError`."""
        singles = [path for path in self._files() if path.name.startswith("run-")]
        if len(singles) < least:
            return
        import polars

        for first in range(0, len(singles), MANY):
            # Those of another version of hopcast may have other columns.
            groups: dict[str, list[tuple[Path, polars.DataFrame]]] = {}
            for path in singles[first : first + MANY]:
                with suppress(FileNotFoundError, DamagedPart):
                    frame = _read(path)
                    groups.setdefault(str(frame.schema), []).append((path, frame))
            for group in groups.values():
                if len(group) < 2:
                    continue
                names = sorted(path.stem for path, _ in group)
                part = self.folder / f"part-{hashlib.sha256(' '.join(names).encode()).hexdigest()[:32]}.parquet"
                _write(part, polars.concat([frame for _, frame in group]).sort("run"), sync=True)
                for path, _ in group:
                    path.unlink(missing_ok=True)

    def clean(self) -> None:
        """Remove unfinished files of processes that were killed."""
        for path in self.folder.glob(".*.part"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > STALE_S:
                    path.unlink()

    def _files(self) -> list[Path]:
        try:
            names = sorted(os.listdir(self.folder))
        except FileNotFoundError:
            return []
        return [
            self.folder / name for name in names if name.endswith(".parquet") and name.startswith(("run-", "part-"))
        ]

    def _put_aside(self, path: Path) -> None:
        with suppress(FileNotFoundError):
            os.replace(path, path.with_name(f"{path.name}.damaged"))


def frame_of(run: str, seed: int, result: Result) -> polars.DataFrame:
    """A row with what is kept of a run."""
    import polars

    totals = [_typed(result.json()["totals"])]
    return polars.DataFrame(
        [
            polars.Series("run", [run], polars.String),
            polars.Series("seed", [seed], polars.UInt64),
            result.flows.drop("seed").to_struct("flows").implode(),
            result.nodes.drop("seed").to_struct("nodes").implode(),
            polars.Series("totals", totals, polars.Struct({name: _type(value) for name, value in totals[0].items()})),
        ]
    )


def _typed(totals: dict[str, Any]) -> dict[str, Any]:
    """The numbers of the totals."""
    return {name: value for name, value in totals.items() if isinstance(value, int | float)}


def _type(value: object) -> Any:
    import polars

    return polars.Float64 if isinstance(value, float) else polars.Int64


def _write(path: Path, frame: polars.DataFrame, *, sync: bool) -> None:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    # A crash of the machine may cut off a file that is not synchronised: its run is then repeated.
    write(path, lambda file: file.write(buffer.getvalue()), sync=sync)


def _is_whole(path: Path) -> bool:
    """Whether a file begins and ends as a Parquet file."""
    try:
        with open(path, "rb") as file:
            if file.seek(0, os.SEEK_END) < 2 * len(MAGIC):
                return False
            file.seek(-len(MAGIC), os.SEEK_END)
            return file.read() == MAGIC
    except OSError:
        return False


def _read(path: Path, columns: Iterable[str] = COLUMNS) -> polars.DataFrame:
    import polars

    try:
        # The file may vanish at any time; what is open stays readable.
        octets = path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise RunError(f"{path}: can't be read: {error.strerror or error}") from None
    reading: Callable[..., polars.DataFrame] = polars.read_parquet
    try:
        return reading(io.BytesIO(octets), columns=list(columns))
    # polars panics on some files, which is no Exception.
    except (Exception, polars.exceptions.PanicException) as error:
        raise DamagedPart(
            f"{path}: is damaged ({str(error).splitlines()[0] if str(error) else type(error).__name__}); "
            "`hopcast sweep` with the same folder repeats its runs"
        ) from None
