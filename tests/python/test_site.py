"""The site has every page of `docs`, and the check of its links finds what is broken."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT

SITE = ROOT / "tools" / "site"
BROKEN = """
import sys
sys.path.insert(0, sys.argv[1])
import links, pathlib
print(*links.broken(pathlib.Path(sys.argv[2]), absent=tuple(sys.argv[3:])), sep="\\n", end="")
"""


def navigation() -> list[str]:
    """The pages of the navigation, in their order, without their titles."""
    parts = tomllib.loads((SITE / "navigation.toml").read_text(encoding="utf-8"))
    entries = [entry for part in parts.values() for group in part for entry in group["pages"]]
    return [re.sub(r".*<(.*)>", r"\1", entry) for entry in entries]


def test_the_navigation_has_every_page_of_the_docs_once() -> None:
    pages = [path.relative_to(ROOT).with_suffix("").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    listed = navigation()
    assert sorted(page for page in listed if page.startswith("docs/")) == sorted(set(pages) - {"docs/index"})
    assert [page for page in listed if not (ROOT / f"{page}.md").is_file()] == []


def test_the_api_has_every_module_that_pages_and_examples_import() -> None:
    files = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.py")]
    texts = [path.read_text(encoding="utf-8") for path in files]
    imported = {name for text in texts for name in re.findall(r"^(?:from|import) hopcast\.(\w+)", text, re.MULTILINE)}
    documented = {path.stem for path in (ROOT / "docs" / "api").glob("*.md")}
    assert {"figures", "routing", "types"} <= imported
    assert imported <= documented


def broken(site: Path, *absent: str) -> list[str]:
    """What the check finds."""
    command = [sys.executable, "-c", BROKEN, str(SITE), str(site), *absent]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout.splitlines()


@pytest.mark.parametrize(
    ("link", "finding"),
    [
        ('<a href="b.html">', ""),
        ('<a href="b.html#there">', ""),
        ('<a href="#here">', ""),
        ('<a href="c%20d.svg">', ""),
        ('<a href="https://example.org/none">', ""),
        ('<a href="mailto:a@example.org">', ""),
        ('<a href="rust/none.html">', ""),
        ('<a href="none.html">', "none.html: no such file"),
        ('<img src="none.svg">', "none.svg: no such file"),
        ('<a href="b.html#none">', "b.html#none: no such anchor"),
        ('<a href="#there">', "#there: no such anchor"),
        ('<a href="folder">', "folder: no such file"),
        ('<a href="../site/../b.html">', "../site/../b.html: outside the site"),
    ],
)
def test_a_broken_link_is_found_with_its_place(link: str, finding: str, tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "folder").mkdir(parents=True)
    (site / "a.html").write_text(f'<p id="here">\n{link}</p>', encoding="utf-8")
    (site / "b.html").write_text('<p><a name="there">', encoding="utf-8")
    (site / "c d.svg").write_text("<svg/>", encoding="utf-8")
    expected = f"a.html:2: {finding}" if finding else ""
    assert "\n".join(broken(site, "rust")) == expected
