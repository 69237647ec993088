"""`hopcast view`: what happened in a recorded run."""

from __future__ import annotations

import os
import sys

import click

from hopcast.cli import epilog
from hopcast.cli.numbers import WholeNumber


@click.command("view", epilog=epilog.RESULTS)
@click.argument("folder", metavar="DIR", type=click.Path(readable=False))
@click.option(
    "--out", metavar="PAGE.html", type=click.Path(readable=False), help="Write one page that opens without hopcast."
)
@click.option("--seed", type=WholeNumber(0, 2**64 - 1), help="The run with this seed.  [default: the lowest]")
@click.option(
    "--perfetto",
    metavar="FILE.json",
    type=click.Path(readable=False),
    help="Write the events for Perfetto (ui.perfetto.dev).",
)
@click.option("--no-browser", is_flag=True, help="Only print the address of the page.")
def command(folder: str, out: str | None, seed: int | None, perfetto: str | None, no_browser: bool) -> None:
    """Show what happened in a run that was recorded with `run --record`: frames, backoff, queues, media.

    Without --out and --perfetto hopcast serves the page on this machine alone, until it is interrupted.
    """
    from hopcast.view import NothingToView, Server, TooLarge, find, write_page, write_perfetto

    try:
        recording, seeds = find(folder, seed)
        if seed is None and len(seeds) > 1:
            click.echo(f"hopcast: seed {recording.seed} of {len(seeds)}; --seed shows another one", err=True)
        if missing := recording.missing_events():
            click.echo(f"hopcast: warning: events.bin is cut: it lacks {missing} events", err=True)
        for target, written in ((out, write_page), (perfetto, write_perfetto)):
            if target is not None:
                written(recording, target)
                click.echo(f"Written to {target}")
    except (NothingToView, TooLarge) as error:
        raise click.UsageError(str(error)) from None
    if out is None and perfetto is None:
        with Server(recording) as server:
            click.echo(f"{server.address} shows the recording until you interrupt this command.")
            sys.stdout.flush()
            if not no_browser and _has_display():
                import webbrowser

                webbrowser.open(server.address)
            server.serve_forever()


def _has_display() -> bool:
    """Whether a browser would open a window."""
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
