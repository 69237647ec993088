"""`--traces` of the commands that execute a study's file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def option(help: str) -> Callable[[F], F]:  # noqa: A002
    """The option `--traces`. It warns of folders that are not there."""
    return click.option(
        "--traces", metavar="DIR", multiple=True, type=click.Path(readable=False), callback=_warn, help=help
    )


def _warn(_context: click.Context, _parameter: click.Parameter, folders: tuple[str, ...]) -> tuple[str, ...]:
    for folder in folders:
        if not os.path.isdir(folder):
            click.echo(f"hopcast: warning: --traces {folder}: there is no such folder", err=True)
    return folders


def look_for_traces(folders: Sequence[str]) -> None:
    """Search these folders too from now on: a custom file may read traces while it is executed."""
    from hopcast.scenario import trace_folders

    if folders:
        os.environ["HOPCAST_TRACES"] = os.pathsep.join(trace_folders(folders))
