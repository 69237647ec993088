"""`hopcast compare`: a measured and a simulated run side by side."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import click

from hopcast.cli import epilog
from hopcast.cli.signals import INTERRUPTION

if TYPE_CHECKING:
    from hopcast.compare import Comparison

FORMATS = (".svg", ".png", ".pdf")
"""File formats of figures; any other ending names a folder."""

OTHER_FORMATS = (".bmp", ".eps", ".gif", ".jpeg", ".jpg", ".ps", ".tif", ".tiff", ".webp")
"""Endings that hardly anyone means for a folder."""


@click.command("compare", epilog=epilog.RESULTS)
@click.argument("first", metavar="A", type=click.Path(readable=False))
@click.argument("second", metavar="B", type=click.Path(readable=False))
@click.option(
    "--out",
    metavar="FIGURE|DIR",
    type=click.Path(readable=False),
    help="Draw goodput, loss and delay of both to this file (.svg, .png, .pdf), or compare.svg and compare.json to this folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(first: str, second: str, out: str | None, as_json: bool) -> None:
    """Compare two runs, such as a measured and a simulated one.

    A and B are folders of `run --out` or `probe send --out`, or files with the output of `--json`. Flows are matched by name.
    The last column is the ratio A/B.
    """
    from hopcast.compare import NotComparable, compare

    if out is not None and out.lower().endswith(OTHER_FORMATS) and not os.path.isdir(out):
        raise click.BadParameter(f"{out} is in no format that hopcast writes: {', '.join(FORMATS)}", param_hint="--out")
    try:
        comparison = compare(first, second)
    except NotComparable as error:
        raise click.UsageError(str(error)) from None
    if out is not None:
        _write(comparison, out)
    with INTERRUPTION.waits():
        _print(comparison, as_json, out)


def _write(comparison: Comparison, out: str) -> None:
    from hopcast.figures import save
    from hopcast.output import prepared, write, write_json

    kind = os.path.splitext(out)[1].lower()
    is_figure = kind in FORMATS and not os.path.isdir(out)
    folder, name = os.path.split(out) if is_figure else (out, "compare.svg")
    names = [name] if is_figure else [name, "compare.json"]
    with prepared(folder or os.curdir, names):
        figure = comparison.plot()
        write(os.path.join(folder, name), lambda file: save(figure, file, kind[1:] if is_figure else "svg"))
        if not is_figure:
            write_json(os.path.join(folder, "compare.json"), comparison.document())


def _print(comparison: Comparison, as_json: bool, out: str | None) -> None:
    if as_json:
        click.echo(json.dumps(comparison.document(), ensure_ascii=False, allow_nan=False).encode())
    else:
        from hopcast.cli.tables import print_comparison

        print_comparison(comparison)
        if out is not None:
            click.echo(f"Written to {out}")
    sys.stdout.flush()
