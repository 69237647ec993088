"""Find links of built pages that lead nowhere: to a file that is not there, or to an anchor that its page lacks."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FOREIGN = ("rust",)
"""Folders whose pages another tool wrote and checks: links from there are left alone."""


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[tuple[int, str]] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name in ("href", "src"):
                self.links.append((self.getpos()[0], value))
            elif name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)


@cache
def read(path: Path) -> Page:
    """A page as its links and anchors."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def broken(site: Path, absent: tuple[str, ...] = ()) -> list[str]:
    """A line for each broken link, with page, line and target. Links into the folders `absent` and to other sites are not followed."""
    site = site.resolve()
    found = []
    for path in sorted(site.rglob("*.html")):
        here = path.relative_to(site)
        if here.parts[0] in FOREIGN:
            continue
        for line, link in read(path).links:
            if reason := wrong(site, path, link, absent):
                found.append(f"{here}:{line}: {link}: {reason}")
    return found


def wrong(site: Path, path: Path, link: str, absent: tuple[str, ...]) -> str | None:
    """Why a link leads nowhere."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_relative_to(site):
        return "outside the site"
    if target.relative_to(site).parts[:1] in [(folder,) for folder in absent]:
        return None
    if not target.is_file():
        return "no such file"
    if parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in read(target).anchors:
        return "no such anchor"
    return None
