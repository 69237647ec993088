"""Numbers on the command line."""

from __future__ import annotations

import math

import click


class WholeNumber(click.ParamType[int]):
    """A whole number from `least` to `most`."""

    name = "integer"

    def __init__(self, least: int, most: int) -> None:
        self.least = least
        self.most = most

    def convert(self, value: object, parameter: click.Parameter | None, context: click.Context | None) -> int:
        """Return the number in `value`, or fail with a message that says what would be right."""
        text = str(value)
        try:
            # Beyond 4300 digits Python would refuse to read it, beyond 40 nobody wants to see it.
            number = int(text) if len(text) <= 40 else self.most + 1
        except ValueError:
            number = self.least - 1
        if not self.least <= number <= self.most:
            self.fail(
                f"{(text or repr(text)) if len(text) <= 40 else text[:40] + '…'} is not a whole number from {self.least} to {self.most}",
                parameter,
                context,
            )
        return number


class Percentage(click.ParamType[float]):
    """A share in percent, above 0 and up to 100, such as 1%."""

    name = "percentage"

    def convert(self, value: object, parameter: click.Parameter | None, context: click.Context | None) -> float:
        """Return the share, up to 1, or fail with a message that says what would be right."""
        text = str(value)
        try:
            share = float(text.removesuffix("%")) / 100.0 if text.endswith("%") else math.nan
        except ValueError:
            share = math.nan
        if not 0.0 < share <= 1.0:
            self.fail(f"{text} is not a share above 0% and up to 100%; expected, for example, 1%", parameter, context)
        return share
