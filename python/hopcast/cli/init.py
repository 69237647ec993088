"""`hopcast init`: the example scenarios, to start from."""

from __future__ import annotations

import errno
import os

import click
from click.shell_completion import CompletionItem

from hopcast import _core
from hopcast.errors import OutputError
from hopcast.nearest import nearest

SUFFIX = ".toml"


class Kind(click.ParamType[str]):
    """The name of an example, without its suffix."""

    name = "kind"

    def convert(self, value: object, parameter: click.Parameter | None, context: click.Context | None) -> str:
        """Return the name, or fail with the nearest one."""
        kind, kinds = str(value).removesuffix(SUFFIX), descriptions()
        if kind not in kinds:
            near = nearest(kind, kinds)
            meant = f"expected one of {', '.join(kinds)}" if near is None else f'did you mean "{near}"?'
            self.fail(f'"{value}" is no kind of scenario; {meant}', parameter, context)
        return kind

    def shell_complete(self, context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin like this."""
        return [CompletionItem(kind, help=text) for kind, text in descriptions().items() if kind.startswith(incomplete)]


@click.command("init")
@click.argument("kind", type=Kind(), required=False)
@click.option(
    "--out", metavar="FILE", type=click.Path(readable=False), help="Name of the scenario.  [default: KIND.toml]"
)
def command(kind: str | None, out: str | None) -> None:
    """Write a commented scenario to start from.

    Without KIND, list the kinds. A trace that the scenario needs is written next to it. Files that exist are never replaced.
    """
    if kind is None:
        if out is not None:
            raise click.UsageError("--out needs a KIND; hopcast init lists the kinds")
        list_kinds()
        return
    written = write(kind, kind + SUFFIX if out is None else out)
    for path in written:
        click.echo(f"Written to {path}")


def descriptions() -> dict[str, str]:
    """What each example shows, by its kind."""
    return {
        name.removesuffix(SUFFIX): text.splitlines()[1].removeprefix("# ")
        for name, text in _core.examples()
        if name.endswith(SUFFIX)
    }


def list_kinds() -> None:
    """Print the kinds, a line for each."""
    kinds = descriptions()
    width = max(map(len, kinds))
    for kind, text in kinds.items():
        click.echo(f"{kind:{width}}  {text}")


def write(kind: str, path: str) -> list[str]:
    """Write the example to `path`, and what it needs next to that. Return all paths. Raises `OutputError` if one can't be
    written, and then leaves none."""
    folder, name = os.path.split(path)
    files = {os.path.join(folder, known): text for known, text in _core.examples() if known.partition(".")[0] == kind}
    scenario = files.pop(os.path.join(folder, kind + SUFFIX))
    # The line of the schema names a place in hopcast's sources.
    _, _, scenario = scenario.partition("\n")
    files = {path: scenario.replace(kind + SUFFIX, name), **files}
    written: list[str] = []
    for target, text in files.items():
        try:
            with open(target, "x", encoding="utf-8") as file:
                written.append(target)
                file.write(text)
        except (OSError, ValueError) as error:
            for mine in written:
                os.unlink(mine)
            if isinstance(error, FileNotFoundError) and folder and not os.path.isdir(folder):
                reason = f"can't be written: there is no folder {folder}"
            elif isinstance(error, FileExistsError):
                reason = "is already there, and hopcast init replaces nothing; name another file with --out"
            else:
                reason = f"can't be written: {error.strerror if isinstance(error, OSError) else error}"
            raise OutputError(errno.EIO, reason, target or "''") from None
    return written
