"""Tables of pages: what stands in them comes from kept runs, between marks of the page."""

from __future__ import annotations

from hopcast.statistics import ci95, mean


def written(page: str, tables: dict[str, str]) -> str:
    """The page with these tables between their marks, `<!-- table: NAME -->` and `<!-- end -->`."""
    for name, text in tables.items():
        begin, end = f"<!-- table: {name} -->\n", "<!-- end -->"
        before, rest = page.split(begin)
        page = before + begin + text + rest[rest.index(end) :]
    return page


def interval(values: list[float], digits: int) -> str:
    """Mean and half the 95 % interval."""
    half = ci95(values)
    return f"{mean(values):.{digits}f}" + ("" if half is None else f" ± {half:.{digits}f}")
