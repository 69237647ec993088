"""Building blocks of an HTML page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from html import escape
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup


def page(title: str, body: Iterable[str]) -> str:
    """A complete HTML page without external resources, of parts that are HTML already."""
    style = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")
    return filled("page.html", title=title, style=Markup(style), body=Markup("\n".join(body))) + "\n"


def filled(template: str, **values: object) -> str:
    """A template of the folder `templates` with these values, which it escapes unless they are `Markup`."""
    return _templates().get_template(template).render(**values)


@cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True, undefined=StrictUndefined
    )


def prose(text: str) -> str:
    """Escape a text for HTML; text between backticks becomes code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text))


def figure(title: str, drawing: str) -> str:
    """A drawing with its caption."""
    return f"<figure>\n{drawing}\n<figcaption>{escape(title)}</figcaption>\n</figure>"


def verdict(name: str, text: str | None = None) -> str:
    """A verdict, or another text in the colour of a verdict."""
    return f'<span class="verdict {escape(name)}">{escape(name if text is None else text)}</span>'
