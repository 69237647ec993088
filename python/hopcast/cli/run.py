"""`hopcast run`: one scenario."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from hopcast.captures import Captures
from hopcast.cli import epilog
from hopcast.cli import traces as traces_of
from hopcast.cli.disk import free_bytes, of_bytes
from hopcast.cli.numbers import WholeNumber
from hopcast.cli.progress import progress_bar
from hopcast.cli.signals import INTERRUPTION
from hopcast.errors import Interrupted, RunError, ScenarioError
from hopcast.results import run
from hopcast.scenario import Scenario, read_text

if TYPE_CHECKING:
    from hopcast.extensions import Extensions
    from hopcast.results import Result


WORTH_TELLING = 10_000_000
"""Captures of fewer bytes surprise no one."""
OUT = (
    "Write tables, the captures of --pcap, and the recordings of --record to this folder. hopcast replaces what it wrote "
    "there in an earlier run, and leaves other files alone. It refuses a folder that another run is using."
)


@click.command("run", epilog=epilog.RESULTS)
@click.argument("scenario", metavar="SCENARIO.toml", type=click.Path(readable=False, allow_dash=True))
@click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help="Change one value; can be repeated.")
@click.option(
    "--extension",
    "extensions",
    metavar="FILE.py|MODULE",
    multiple=True,
    help="Your models in Python: a file or module that defines EXTENSIONS, a hopcast.Extensions; can be repeated.",
)
@click.option("--seed", type=WholeNumber(0, 2**64 - 1), help="Seed of the first replication.")
@click.option(
    "--replications", type=WholeNumber(1, 1_000_000), default=1, show_default=True, help="Runs, each with its own seed."
)
@click.option("--threads", type=WholeNumber(1, 4096), help="Replications at a time.  [default: one per core]")
@traces_of.option("Where to look for traces.")
@click.option("--out", metavar="DIR", type=click.Path(readable=False), help=OUT)
@click.option("--pcap", is_flag=True, help="Capture every frame, in a file for each node. Needs --out.")
@click.option(
    "--pcap-node", "pcap_nodes", metavar="NODE", multiple=True, help="Capture at this node only; can be repeated."
)
@click.option("--pcap-addressed", is_flag=True, help="Capture without frames to other nodes that a node overheard.")
@click.option("--pcap-medium", is_flag=True, help="Capture all radios in one file, each frame once: medium.pcapng.")
@click.option("--record", is_flag=True, help="Record what happens, for hopcast view. Needs --out.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--explain", is_flag=True, help="Print every value in force with its source; run nothing.")
def command(
    scenario: str,
    overrides: tuple[str, ...],
    extensions: tuple[str, ...],
    seed: int | None,
    replications: int,
    threads: int | None,
    traces: tuple[str, ...],
    out: str | None,
    pcap: bool,
    pcap_nodes: tuple[str, ...],
    pcap_addressed: bool,
    pcap_medium: bool,
    record: bool,
    as_json: bool,
    explain: bool,
) -> None:
    """Simulate a scenario. SCENARIO.toml can be - for standard input."""
    captures = _captures(pcap, pcap_nodes, pcap_addressed, pcap_medium)
    if captures is not None and out is None:
        given = {"--pcap": pcap, "--pcap-node": pcap_nodes, "--pcap-addressed": pcap_addressed, "--pcap-medium": True}
        option = next(name for name, value in given.items() if value)
        raise click.UsageError(f"{option} needs --out, a folder for the captures")
    if record and out is None:
        raise click.UsageError("--record needs --out, a folder for the recordings")
    try:
        wanted = Scenario.from_toml(
            _source(scenario), overrides=overrides, traces=traces, extensions=load_extensions(extensions)
        )
    except ScenarioError:
        if scenario != "-" and _is_sweep(scenario):
            raise click.UsageError(f"{scenario}: is a sweep; `hopcast sweep {scenario} --out DIR` runs it") from None
        raise
    first = wanted.seed if seed is None else seed
    if first + replications > 2**64:
        raise click.UsageError(f"--seed {first}: with --replications {replications} the last seed exceeds 2^64 - 1")
    if explain:
        _print_explanation(wanted, seed, as_json)
        return
    if captures is not None and out is not None:
        _tell_size(captures, wanted, first, replications, out)
    result: Result | None
    failure: Interrupted | RunError | None = None
    try:
        with progress_bar() as progress:
            result = run(
                wanted,
                seed=first,
                replications=replications,
                out=out,
                threads=threads,
                pcap=captures or False,
                record=record,
                progress=progress,
            )
    except (Interrupted, RunError) as stopped:
        result, failure = stopped.result, stopped
    try:
        if result is not None:
            _show(result, as_json, None if isinstance(failure, RunError) else out)
    finally:
        # What was measured is told first, and however that goes, why it is not all.
        if failure is not None:
            raise failure


def _captures(pcap: bool, nodes: tuple[str, ...], addressed: bool, medium: bool) -> Captures | None:
    """What the options ask for. `--pcap-medium` alone asks for no captures of nodes."""
    if not (pcap or nodes or addressed or medium):
        return None
    return Captures(nodes or (None if pcap or addressed else ()), addressed, medium)


def _tell_size(captures: Captures, scenario: Scenario, seed: int, replications: int, out: str) -> None:
    """Say how large the captures will be; refuse what the disk has no room for."""
    try:
        size = captures.size(scenario, seed=seed, replications=replications)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if size is None:
        return
    files = f"{size.files} file{'s' if size.files > 1 else ''}"
    about = f"captures take about {of_bytes(size.bytes)} in {files}"
    free = free_bytes(out)
    if free is not None and size.bytes > free:
        raise click.UsageError(
            f"{about}, but only {of_bytes(free)} are free in {out}; choose nodes with --pcap-node, or another --out"
        )
    if size.bytes >= WORTH_TELLING:
        click.echo(f"hopcast: {about}", err=True)


def _show(result: Result, as_json: bool, out: str | None) -> None:
    with INTERRUPTION.waits():
        _print(result, as_json, out)


def _print(result: Result, as_json: bool, out: str | None) -> None:
    for warning in result.json().get("warnings", ()):
        click.echo(f"hopcast: warning: {warning}", err=True)
    if as_json:
        click.echo(json.dumps(result.json(), ensure_ascii=False, allow_nan=False).encode())
    else:
        _print_tables(result, out)
    sys.stdout.flush()


def _source(argument: str) -> str:
    """The name of a file, or the text of standard input for `-`; never treat a name from the command line as TOML text."""
    if "\n" in argument:
        raise click.BadParameter("a file name can't hold a line break", param_hint="SCENARIO.toml")
    return read_text("/dev/stdin") + "\n" if argument == "-" else argument


def _is_sweep(file: str) -> bool:
    """Whether a file names a scenario, and the values of its keys."""
    import tomllib

    try:
        document = tomllib.loads(read_text(file))
    except (ScenarioError, tomllib.TOMLDecodeError):
        return False
    return isinstance(document.get("scenario"), str) and not {"grid", "zip", "sample"}.isdisjoint(document)


def load_extensions(sources: tuple[str, ...]) -> Extensions | None:
    """The models that options name; `None` without options."""
    if not sources:
        return None
    from hopcast.extensions import load_all
    from hopcast.files import PythonFileError

    try:
        return load_all(sources)
    except PythonFileError as error:
        raise click.UsageError(str(error)) from error


def _print_explanation(scenario: Scenario, seed: int | None, as_json: bool) -> None:
    values = scenario.explain()
    if seed is not None:
        # The scenario does not know of it: it is the run that is given another one.
        values = [("seed", str(seed), "--seed") if row[0] == "seed" else row for row in values]
    if as_json:
        rows = [{"key": key, "value": value, "source": source} for key, value, source in values]
        click.echo(json.dumps({"values": rows, "scenario_sha256": scenario.sha256}, ensure_ascii=False).encode())
        return
    # A value that is longer stands before its source all the same.
    widths = [max((len(row[column]) for row in values if len(row[column]) <= 40), default=0) for column in (0, 1)]
    for key, value, source in values:
        click.echo(f"{key:<{widths[0]}}  {value:<{widths[1]}}  {source}")


def _print_tables(result: Result, out: str | None) -> None:
    from hopcast.cli.tables import print_result

    print_result(result)
    if out is not None:
        click.echo(f"Written to {out}")
