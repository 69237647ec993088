"""Building blocks of an HTML page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from pathlib import Path


def page(title: str, body: Iterable[str]) -> str:
    """A complete HTML page without external resources."""
    style = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(title)}</title>",
            f"<style>\n{style}</style>",
            "</head>",
            "<body>",
            "<main>",
            *body,
            "</main>",
            "</body>",
            "</html>",
            "",
        ]
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
