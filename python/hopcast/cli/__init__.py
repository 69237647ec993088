"""The command line. Each command imports what it needs only when it runs, so that a short run starts fast."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

import click

from hopcast._core import __version__
from hopcast.cli.signals import INTERRUPTION
from hopcast.cli.usage import describe
from hopcast.errors import HopcastError, OutputError, ScenarioError

DONE, FAILED, WRONG_INPUT = 0, 1, 2

COMPLETION = "_HOPCAST_COMPLETE"
"""The environment variable through which a shell asks click for completions."""


class Commands(click.Group):
    """The commands by name, each in a separate module that click loads on the first call."""

    names = (
        "run",
        "study",
        "sweep",
        "view",
        "report",
        "compare",
        "emulate",
        "node",
        "probe",
        "stream",
        "cloud",
        "key",
        "init",
        "schema",
    )

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.names)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name == "run":
            from hopcast.cli.run import command
        elif name == "study":
            from hopcast.cli.study import command
        elif name == "sweep":
            from hopcast.cli.sweep import command
        elif name == "view":
            from hopcast.cli.view import command
        elif name == "report":
            from hopcast.cli.report import command
        elif name == "compare":
            from hopcast.cli.compare import command
        elif name == "init":
            from hopcast.cli.init import command
        elif name == "schema":
            from hopcast.cli.schema import command
        elif name in ("emulate", "node", "probe", "stream", "cloud", "key"):
            from hopcast.cli import live

            return live.command(name)
        else:
            return None
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Describe each command in a whole sentence, on several lines if necessary: click would cut it after the
        first line.
        """
        commands = ((name, self.get_command(context, name)) for name in self.list_commands(context))
        rows = [(name, command.get_short_help_str(sys.maxsize)) for name, command in commands if command is not None]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="hopcast", message="%(prog)s %(version)s")
def hopcast() -> None:
    """Media streaming over wireless ad hoc networks: simulated, emulated, and between real hosts.

    Exit status: 0 done; 1 failed while running; 2 the input is wrong and nothing was run; 130 interrupted (143 by
    SIGTERM), with every finished replication written whole.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, and exit with its status."""
    INTERRUPTION.listen()
    _mend_streams()
    status = DONE
    try:
        status = _invoke(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        _forget_output()
    except OSError as error:
        # Without a name it is standard output itself: a full disk behind it, say.
        where = error.filename or "can't write the output"
        _complain(f"{where}: {error.strerror or error}")
        _forget_output()
        status = status or FAILED
    except KeyboardInterrupt:
        _forget_output()
        status = INTERRUPTION.status
    INTERRUPTION.ignore()
    # If Ctrl-C came in an `exec` of a text, such as that of a dataclass, the interpreter would end itself by SIGINT
    # instead, whoever caught the exception. The next `exec` of a text clears that.
    exec("")
    sys.exit(status)


def _mend_streams() -> None:
    """Prepare for a standard output that may be closed, or may not support all characters that hopcast prints."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _forget_output() -> None:
    """Drop buffered output, which would raise again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _invoke(arguments: Sequence[str] | None) -> int:
    """Run one command, and turn every error into a line on standard error and an exit status."""
    stdout = sys.stdout
    try:
        outcome = hopcast.main(args=arguments, prog_name="hopcast", standalone_mode=False)
        # Without its standalone mode, click returns the status of --help and --version.
        return outcome if isinstance(outcome, int) else DONE
    except SystemExit as error:
        if COMPLETION in os.environ:
            # click has answered the shell.
            return FAILED if error.code else DONE
        if sys.stdout is not stdout or isinstance(error.__context__, BrokenPipeError):
            # What click, and Rich, make of a broken pipe: whoever read our output has seen enough.
            return DONE
        # A file of one's own has ended the program, perhaps with a word on why.
        _complain(
            error.code if isinstance(error.code, str) else f"a file of one's own has ended the program: {error!r}"
        )
        return FAILED
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return WRONG_INPUT
    except click.ClickException as error:
        _complain(_printable(describe(error), arguments))
        return WRONG_INPUT
    except ScenarioError as error:
        _complain(_printable(str(error), arguments))
        return WRONG_INPUT
    except OutputError as error:
        _complain(_printable(f"{error.filename}: {error.strerror}", arguments))
        return WRONG_INPUT
    except HopcastError as error:
        _complain(_printable(str(error), arguments))
        return FAILED
    except (KeyboardInterrupt, click.Abort) as interrupt:
        # What click makes an Abort of says more than the Abort.
        _complain(str(interrupt) or str(interrupt.__cause__ or "") or "interrupted")
        return INTERRUPTION.status


def _printable(message: str, arguments: Sequence[str] | None) -> str:
    """Show line breaks and other control characters of the command line's names escaped, so that a message about a name
    has one line.
    """
    for argument in sys.argv[1:] if arguments is None else arguments:
        for name in (argument, argument.partition("=")[2]):
            if not name.isprintable():
                shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
                message = message.replace(name, shown)
    return message


def _complain(message: str) -> None:
    click.echo(f"hopcast: {message}", err=True)
