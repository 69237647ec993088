"""Results that commands wrote to a folder, read back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopcast.report.documents import NoDocument, load_run, load_table
from hopcast.results import Result

if TYPE_CHECKING:
    import polars

EMULATED = ("conversations", "rtp", "conversation_series")
"""Tables of emulations only."""


class StoredResult(Result):
    """Results that `hopcast run`, `emulate` or `probe` wrote to a folder. It has everything that a `Result` has, except the
    scenario.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._document = load_run(self.folder / "run.json", whole=False)
        self._tables = {}

    def costs(self) -> list[dict[str, Any]]:
        """Cost of the only replication. The folder holds the sums over several ones only: `json()["cost"]`."""
        if len(self) > 1:
            raise ValueError(f"{self.folder}: holds the sum of the costs of {len(self)} replications, not each of them")
        return [self.json()["cost"]]

    def __len__(self) -> int:
        return int(self.json()["provenance"].get("replications", 1))

    @property
    def _name(self) -> str:
        return str(self.folder)

    def _table(self, name: str) -> polars.DataFrame:
        if name not in self._tables:
            file = self.folder / f"{name}.parquet"
            if name == "streams" and not file.exists():
                raise NoDocument(f"{file}: is not there; only scenarios with `cloud` have requests for clips")
            if name in EMULATED and not file.exists():
                raise NoDocument(f"{file}: is not there; only emulations have conversations (hopcast emulate --out)")
            self._tables[name] = load_table(file)
        return self._tables[name].clone()


def open_run(folder: str | os.PathLike[str]) -> StoredResult:
    """Return the results that `hopcast run`, `emulate` or `probe` wrote to a folder with `--out`. Raises `HopcastError` if
    there are none, or if they can't be read.
    """
    return StoredResult(folder)
