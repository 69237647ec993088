"""The register of the papers' sentences, from which all studies of this package read their lines."""

from __future__ import annotations

from pathlib import Path

from hopcast.lab.experiment import Table
from hopcast.lab.register import Register

REGISTER = Register.read(Path(__file__).with_name("register.toml"))
NOISE, UNAFFECTED, RESOLUTION = (REGISTER.words[word] for word in ("noise", "unaffected", "resolution"))
"""Numbers for words, which notes use as well; the register says what they are."""


def finding(id_: str, table: Table) -> str:
    """What the row of a sentence measured, with its interval, as text for notes."""
    row = REGISTER[id_].row_among(table.rows)
    return "unknown" if row is None else row.measured_text()


def outcome(id_: str, table: Table) -> str:
    """The verdict on a sentence, as a word for notes: ``holds``, ``fails`` or ``is open``."""
    row = REGISTER[id_].row_among(table.rows)
    return "is open" if row is None or row.verdict == "inconclusive" else row.verdict
