"""`hopcast run`: one scenario."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from hopcast.cli.progress import progress_bar
from hopcast.results import run
from hopcast.scenario import Scenario

if TYPE_CHECKING:
    from hopcast.results import Result


@click.command("run")
@click.argument("scenario", metavar="SCENARIO.toml", type=click.Path(allow_dash=False))
@click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help="Change one value; may be repeated.")
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="Seed of the first replication.")
@click.option(
    "--replications", type=click.IntRange(1, 1_000_000), default=1, show_default=True, help="Runs, a seed each."
)
@click.option("--threads", type=click.IntRange(1, 4096), help="Replications side by side.  [default: one a core]")
@click.option("--traces", metavar="DIR", multiple=True, type=click.Path(), help="Where to look for traces.")
@click.option("--out", metavar="DIR", type=click.Path(), help="Write tables, and what --pcap asks for, to this folder.")
@click.option("--pcap", is_flag=True, help="Capture every frame, in a file for each node. Needs --out.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--explain", is_flag=True, help="Print every value in force with its source; run nothing.")
def command(
    scenario: str,
    overrides: tuple[str, ...],
    seed: int | None,
    replications: int,
    threads: int | None,
    traces: tuple[str, ...],
    out: str | None,
    pcap: bool,
    as_json: bool,
    explain: bool,
) -> None:
    """Simulate a scenario."""
    if pcap and out is None:
        raise click.UsageError("--pcap needs --out, a folder for the captures.")
    wanted = Scenario.from_toml(_path(scenario), overrides=overrides, traces=traces)
    first = wanted.seed if seed is None else seed
    if first + replications > 2**64:
        raise click.UsageError(f"--seed {first}: with --replications {replications} the last seed exceeds 2^64 - 1.")
    if explain:
        _print_explanation(wanted, as_json)
        return
    with progress_bar() as progress:
        result = run(
            wanted,
            seed=first,
            replications=replications,
            out=out,
            threads=threads,
            pcap=pcap,
            progress=progress,
        )
    if as_json:
        click.echo(json.dumps(result.json(), ensure_ascii=False, allow_nan=False))
    else:
        _print_tables(result, out)


def _path(argument: str) -> str:
    """A file name from the command line is never taken for TOML text."""
    if "\n" in argument:
        raise click.BadParameter("a file name can't hold a line break", param_hint="SCENARIO.toml")
    return argument


def _print_explanation(scenario: Scenario, as_json: bool) -> None:
    values = scenario.explain()
    if as_json:
        rows = [{"key": key, "value": value, "source": source} for key, value, source in values]
        click.echo(json.dumps({"values": rows, "scenario_sha256": scenario.sha256}, ensure_ascii=False))
        return
    widths = [max((len(row[column]) for row in values), default=0) for column in (0, 1)]
    for key, value, source in values:
        click.echo(f"{key:<{widths[0]}}  {value:<{widths[1]}}  {source}")


def _print_tables(result: Result, out: str | None) -> None:
    from hopcast.cli.tables import print_result

    print_result(result)
    if out is not None:
        click.echo(f"Written to {out}")
