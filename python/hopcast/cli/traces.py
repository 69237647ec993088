"""`--traces` of the commands that execute a study's file."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

OPTION = click.option(
    "--traces", metavar="DIR", multiple=True, type=click.Path(), help="Where to look for traces and measurements."
)


def look_for_traces(folders: Sequence[str]) -> None:
    """Search these folders too from now on: a custom file may read traces while it is executed."""
    from hopcast.scenario import trace_folders

    if folders:
        os.environ["HOPCAST_TRACES"] = os.pathsep.join(trace_folders(folders))
