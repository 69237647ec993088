"""Pieces of text for the notes of studies."""

from __future__ import annotations

from hopcast.lab.experiment import Table
from hopcast_papers.register import REGISTER


def finding(id_: str, table: Table) -> str:
    """What the row of a sentence measured, with its interval."""
    row = REGISTER[id_].row_among(table.rows)
    return "unknown" if row is None else row.measured_text()


def outcome(id_: str, table: Table) -> str:
    """The verdict on a sentence: ``holds``, ``fails`` or ``is open``."""
    row = REGISTER[id_].row_among(table.rows)
    return "is open" if row is None or row.verdict == "inconclusive" else row.verdict


def capitalized(text: str) -> str:
    """The text as the beginning of a sentence; abbreviations in it stay as they are."""
    return text[:1].upper() + text[1:]
