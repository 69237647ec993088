"""Recordings of runs as tables: what happened, when, and at which node (`docs/recording.md`)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopcast.view.folder import EVENT, NO_FRAME, NO_VALUE, Folder, find

if TYPE_CHECKING:
    import numpy
    import polars


@dataclass(frozen=True)
class Recording:
    """The recording of one run. A file that was cut holds every whole record before the cut."""

    folder: Folder

    @property
    def path(self) -> Path:
        """Its folder."""
        return self.folder.path

    @property
    def about(self) -> dict[str, Any]:
        """What `recording.json` says."""
        return self.folder.about

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self.folder.seed

    def missing_events(self) -> int:
        """Number of events that `events.bin` lacks, if it was cut."""
        return self.folder.missing_events()

    def events(self) -> polars.DataFrame:
        """The events in the order of their start, with names of nodes, flows, kinds, and frames or causes.

        Columns: `time_ns`, `duration_ns`, `node`, `peer`, `kind`, `frame_type`, `cause`, `flow`, `size_bytes`, `frame`,
        `value`, `fate`. What an event does not have is null; `value` is as `docs/recording.md` has it for each kind. `fate` is
        "on time", "late" or "lost" for a frame of media, and "begins" or "goes on" for a part of a stall or of a busy medium.
        """
        import polars as pl

        raw = self._table("events.bin", EVENT)

        def named(column: str, names: list[str]) -> pl.Expr:
            # A number without a name stands for no node or no flow.
            return (
                pl.col(column)
                .cast(pl.UInt32)
                .replace_strict(dict(enumerate(names)), default=None, return_dtype=pl.String)
            )

        about = self.about
        nodes = [node["name"] for node in about["nodes"]]
        of_media, of_part = (
            pl.col("kind").is_in([about["kinds"].index(kind) for kind in kinds])
            for kinds in (["media"], ["busy", "stall"])
        )
        of_frame, of_drop = pl.col("kind") < 4, pl.col("kind") == about["kinds"].index("drop")
        return raw.select(
            "time_ns",
            "duration_ns",
            named("node", nodes),
            named("peer", nodes),
            pl.when(of_frame).then(named("code", about["frames"])).alias("frame_type"),
            pl.when(of_drop).then(named("code", about["drops"])).alias("cause"),
            pl.when(of_media)
            .then(named("code", ["on time", "late", "lost"]))
            .when(of_part)
            .then(named("code", ["begins", "goes on"]))
            .alias("fate"),
            named("kind", about["kinds"]),
            named("flow", [flow["name"] for flow in about["flows"]]),
            "size_bytes",
            pl.when(pl.col("frame") != NO_FRAME).then("frame").alias("frame"),
            pl.when(pl.col("value") != NO_VALUE).then("value").alias("value"),
        ).select(
            "time_ns",
            "duration_ns",
            "node",
            "peer",
            "kind",
            "frame_type",
            "cause",
            "flow",
            "size_bytes",
            "frame",
            "value",
            "fate",
        )

    def samples(self) -> polars.DataFrame:
        """Values of series: `time_ns`, `series`, `flow`, `node`, `unit`, `value`."""
        import polars as pl

        raw = self._table("samples.bin", (("time_ns", "<u8"), ("series", "<u4"), ("zero", "<u4"), ("value", "<f8")))
        nodes = [node["name"] for node in self.about["nodes"]]
        flows = [flow["name"] for flow in self.about["flows"]]

        def name(names: list[str], place: int | None) -> str | None:
            return None if place is None else names[place]

        rows = [
            (number, row["name"], name(flows, row["flow"]), name(nodes, row["node"]), row["unit"])
            for number, row in enumerate(self.about["series"])
        ]
        schema = {"number": pl.UInt32, "series": pl.String, "flow": pl.String, "node": pl.String, "unit": pl.String}
        series = pl.DataFrame(rows, schema=schema, orient="row")
        joined = raw.rename({"series": "number"}).join(series, on="number", how="left", maintain_order="left")
        return joined.select("time_ns", "series", "flow", "node", "unit", "value")

    def positions(self) -> polars.DataFrame:
        """Positions of nodes that move: `time_ns`, `node`, `x_m`, `y_m`, with straight lines between them."""
        import polars as pl

        record = (("time_ns", "<u8"), ("node", "<u4"), ("zero", "<u4"), ("x_m", "<f4"), ("y_m", "<f4"))
        names = dict(enumerate(node["name"] for node in self.about["nodes"]))
        node = pl.col("node").replace_strict(names, default=None, return_dtype=pl.String)
        return self._table("positions.bin", record).select("time_ns", node, "x_m", "y_m")

    def _table(self, name: str, record: tuple[tuple[str, str], ...]) -> polars.DataFrame:
        import numpy as np
        import polars as pl

        dtype: numpy.dtype[Any] = np.dtype(list(record))
        path = self.path / name
        whole = path.stat().st_size // dtype.itemsize
        array = np.fromfile(path, dtype, whole)
        return pl.DataFrame({field: np.ascontiguousarray(array[field]) for field, _ in record})


def open_recording(folder: str | os.PathLike[str], seed: int | None = None) -> Recording:
    """Open the recording of a run with `record=True` in its folder, by default of the lowest seed. Raises
    `hopcast.view.NothingToView`.
    """
    return Recording(find(folder, seed)[0])
