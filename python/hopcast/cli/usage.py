"""Mistakes on the command line in hopcast's words: one line with the argument, what is wrong and what would be right. If the
line can't say that, another one names the help. The commands that Rust reads say the same (`crates/live/src/usage.rs`).
"""

from __future__ import annotations

import click

from hopcast.nearest import nearest


def describe(error: click.ClickException) -> str:
    """Return what is wrong."""
    match error:
        case click.NoSuchOption(option_name=name):
            return _with_help(f"there is no option {name}{_suggestion(name, _options(error.ctx))}", error)
        case click.exceptions.NoSuchCommand(command_name=name):
            return _with_help(f"there is no command {name}{_suggestion(name, _commands(error.ctx))}", error)
        case click.MissingParameter(param=parameter) if parameter is not None:
            return _with_help(f"{_name(parameter)} is missing", error)
        case click.BadParameter():
            where = _where(error)
            return error.message if where is None else f"{where}: {error.message}"
        case click.BadOptionUsage(option_name=name) if "requires an argument" in error.message:
            return _with_help(f"{name}: a value is missing", error)
        case click.BadOptionUsage(option_name=name) if "does not take a value" in error.message:
            return _with_help(f"{name}: takes no value", error)
        case click.UsageError() if error.message.startswith("Got unexpected extra argument"):
            _, _, arguments = error.message.partition("(")
            first = arguments.rstrip(")").split(" ")[0]
            return _with_help(f"{first}: is one argument too many", error)
        case _:
            return error.format_message()


def _with_help(wrong: str, error: click.UsageError) -> str:
    return wrong if error.ctx is None else f"{wrong}\n`{error.ctx.command_path} --help` shows what it takes"


def _name(parameter: click.Parameter) -> str:
    """The option's longest name, or the argument as the help has it."""
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    return parameter.make_metavar(click.Context(click.Command(None))).strip("[]")


def _where(error: click.BadParameter) -> str | None:
    if isinstance(error.param_hint, str):
        return error.param_hint
    return None if error.param is None else _name(error.param)


def _options(context: click.Context | None) -> list[str]:
    if context is None:
        return []
    return [
        name for parameter in context.command.get_params(context) for name in parameter.opts if name.startswith("--")
    ]


def _commands(context: click.Context | None) -> list[str]:
    command = None if context is None else context.command
    return command.list_commands(context) if isinstance(command, click.Group) and context is not None else []


def _suggestion(name: str, known: list[str]) -> str:
    words = {word.removeprefix("--"): word for word in known}
    found = nearest(name.removeprefix("--"), words)
    return "" if found is None else f"; did you mean {words[found]}?"
