"""`hopcast sweep`: one scenario with many values and seeds."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from hopcast.cli import traces as traces_of
from hopcast.cli.numbers import Percentage, WholeNumber
from hopcast.cli.progress import progress_bar
from hopcast.cli.run import load_extensions
from hopcast.cli.signals import INTERRUPTION

if TYPE_CHECKING:
    from hopcast.sweep import SweepResult


class Shard(click.ParamType[tuple[int, int]]):
    """A part of the runs, K/N."""

    name = "K/N"

    def convert(
        self, value: object, parameter: click.Parameter | None, context: click.Context | None
    ) -> tuple[int, int]:
        """Return K and N, or fail with a message that says what would be right."""
        k, _, n = str(value).partition("/")
        if not (k.isdecimal() and n.isdecimal() and len(n) <= 9 and 0 <= int(k) <= int(n) != 0):
            message = f"{value} is not a part of the runs; expected K/N with K from 1 to N, such as 2/8"
            self.fail(message, parameter, context)
        return int(k), int(n)


@click.command("sweep")
@click.argument("file", metavar="SWEEP.toml", type=click.Path(readable=False))
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(readable=False),
    required=True,
    help="Keep each finished run in this folder, and do only what it does not have yet.",
)
@click.option("--workers", type=WholeNumber(1, 4096), help="Runs at a time.  [default: one per core]")
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Let the workers of the Dask scheduler at this address simulate, such as tcp://10.0.0.1:8786. They need the same"
    " hopcast[dask], and must see DIR.",
)
@click.option(
    "--shard",
    metavar="K/N",
    type=Shard(),
    help="Do only the K-th of N parts, with K from 1 to N (0 is the same as N). All parts may use one folder at the same time.",
)
@click.option(
    "--verify",
    metavar="SHARE",
    type=Percentage(),
    help="Then repeat this share of the kept runs, such as 1%, chosen at random, and end with status 1 if one is not the same.",
)
@click.option(
    "--extension",
    "extensions",
    metavar="FILE.py|MODULE",
    multiple=True,
    help="Your models in Python: a file or module that defines EXTENSIONS, a hopcast.Extensions; can be repeated.",
)
@traces_of.option("Where to look for traces.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: sweep.json without its points.")
def command(
    file: str,
    out: str,
    workers: int | None,
    scheduler: str | None,
    shard: tuple[int, int] | None,
    verify: float | None,
    extensions: tuple[str, ...],
    traces: tuple[str, ...],
    as_json: bool,
) -> None:
    """Simulate a scenario with many values and seeds.

    SWEEP.toml names the scenario, the values of its keys, and the replications. The table of all results is
    hopcast.open_sweep("DIR").flows in Python, and `hopcast report DIR` draws it.
    """
    from hopcast.sweep import NoCluster, Sweep, SweepFailed, SweepInterrupted

    if scheduler is not None and (workers, shard) != (None, None):
        other = "--workers" if workers is not None else "--shard"
        raise click.UsageError(
            f"--scheduler and {other} exclude each other: one says where to simulate, the other how much here"
        )

    sweep = Sweep.from_toml(file, traces=traces, extensions=load_extensions(extensions))
    failure: SweepFailed | SweepInterrupted | None = None
    try:
        with progress_bar() as progress:
            result = sweep.run(out, workers=workers, shard=shard, scheduler=scheduler, verify=verify, progress=progress)
    except NoCluster as error:
        raise click.BadParameter(str(error), param_hint="--scheduler") from None
    except SweepInterrupted as stopped:
        result, failure = stopped.result, stopped
    except SweepFailed as stopped:
        result, failure = stopped.sweep, stopped
    try:
        with INTERRUPTION.waits():
            _print(result, as_json, out if failure is None else None)
    finally:
        if failure is not None:
            raise failure


def _print(result: SweepResult, as_json: bool, out: str | None) -> None:
    document = {name: of for name, of in result.document.items() if name != "points"}
    if as_json:
        click.echo(json.dumps(document, ensure_ascii=False, allow_nan=False).encode())
    elif out is not None:
        counts, cost = document["counts"], document["cost"]
        missing = "" if result.complete else f" of {counts['runs']}" if counts["runs"] is not None else ", more to do"
        click.echo(
            f"{counts['points']} points, {counts['finished']}{missing} runs; "
            f"{100.0 * cost['share']:.0f} % of {cost['workers']} workers' {cost['wall_s']:.1f} s in simulation"
        )
        if (verified := document.get("verified")) is not None:
            click.echo(f"Repeated runs: {verified['runs']}, all the same")
        click.echo(f"Written to {out}")
    sys.stdout.flush()
