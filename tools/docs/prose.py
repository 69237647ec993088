"""Check the style of the pages, docstrings and doc comments: words to avoid, and in pages sentences that are too long.

`python tools/docs/prose.py` checks every page of the project, `--code` the documentation in its Python and Rust code, and
`python tools/docs/prose.py FILE…` those files. Each finding is a line with file, line, what was found and what is better; with
findings the exit status is 1. `words.toml` has the words. Code and the targets of links are left out. Of tables and of
documentation in code, only the words are checked.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORDS = Path(__file__).with_name("words.toml")
LONGEST = 35
"""Words of the longest sentence."""

PAGES = ("*.md", "docs/**/*.md", "benches/*/README.md", "packaging/**/*.md", "papers/**/*.md", "traces/*.md")
"""Pages that are checked without arguments."""

CODE = ("crates/**/*.rs", "tests/**/*.rs", "python/**/*.py", "papers/**/*.py", "tests/**/*.py", "tools/**/*.py")
"""Code whose documentation `--code` checks."""

FINE_IN_CODE = ("is none",)
"""Words of the list that documentation in code may have: "`None` if there is none"."""

NOT_YET: tuple[str, ...] = ()
"""Pages that don't pass yet. A page that passes has to be taken off this list."""


@dataclass(frozen=True)
class Finding:
    """Something to write otherwise."""

    line: int
    found: str
    better: str


@dataclass(frozen=True)
class Piece:
    """Prose that belongs together: a paragraph, an item of a list, a heading, or a row of a table."""

    text: str
    lines: tuple[int, ...]
    """The line of each character of the text."""
    in_table: bool

    def line(self, position: int) -> int:
        """The line of the file in which a character of the text stands."""
        return self.lines[min(position, len(self.lines) - 1)]


def check(text: str, words: dict[str, str]) -> list[Finding]:
    """What a page in Markdown should say otherwise, from top to bottom."""
    found = []
    for piece in pieces(text):
        found += avoided(piece, words)
        if not piece.in_table:
            found += too_long(piece)
    return sorted(found, key=lambda finding: finding.line)


def check_code(text: str, words: dict[str, str], *, is_python: bool) -> list[Finding]:
    """What the documentation in a file of Python or Rust should say otherwise, from top to bottom."""
    words = {word: better for word, better in words.items() if word not in FINE_IN_CODE}
    documentation = docstrings(text) if is_python else doc_comments(text)
    found = [finding for piece in pieces(documentation) for finding in avoided(piece, words)]
    return sorted(found, key=lambda finding: finding.line)


def docstrings(text: str) -> str:
    """The docstrings of Python code, those of attributes included, each on its lines; all other lines are blank."""
    kept = [""] * (text.count("\n") + 1)
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            end = node.end_lineno or node.lineno
            kept[node.lineno - 1 : end] = [line.strip().strip('"') for line in lines[node.lineno - 1 : end]]
    return "\n".join(kept)


def doc_comments(text: str) -> str:
    """The doc comments of Rust code, each on its lines; all other lines are blank."""
    comments = (re.match(r"\s*//[/!] ?(?!/)(.*)", line) for line in text.split("\n"))
    return "\n".join(comment[1] if comment else "" for comment in comments)


def avoided(piece: Piece, words: dict[str, str]) -> Iterator[Finding]:
    """Words of the list."""
    for word, better in words.items():
        for match in re.finditer(pattern(word), piece.text, re.IGNORECASE):
            yield Finding(piece.line(match.start()), f'"{match[0]}"', f"say: {better}")


def pattern(word: str) -> str:
    """A regular expression for an entry of the list."""
    return r"(?<![\w'’-])" + re.escape(word).replace("…", r"(?:[\w'’-]+ ){0,1}[\w'’-]+") + r"(?![\w'’-])"


def too_long(piece: Piece) -> Iterator[Finding]:
    """Sentences with too many words."""
    for start, sentence in sentences(piece.text):
        count = len(re.findall(r"\w[\w.,:/+−%'’-]*", sentence))
        if count > LONGEST:
            begin = " ".join(sentence.split()[:6])
            yield Finding(
                piece.line(start), f'"{begin} …"', f"{count} words in a sentence: split it, at most {LONGEST}"
            )


ENDS = re.compile(r"[.!?][)\"”’*_]*\s+(?=[\"“‘(*_A-Z0-9`]|hopcast\b|ns-[23]\b)")
SHORT = re.compile(r"(?:(?<!\d )\b[A-Z]|\b(?:e\.g|i\.e|cf|vs|al|Fig|Eq|Sec|No))\.\s+$")


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a piece, each with where it starts. An initial or an abbreviation ends none; a unit does."""
    start = 0
    for end in ENDS.finditer(text):
        if not SHORT.search(text[: end.end()]):
            yield start, text[start : end.end()]
            start = end.end()
    yield start, text[start:]


ITEM = re.compile(r"^(?:\s*(?:[-*+]|\d+\.)\s+|#+\s+|>\s*)")


def pieces(text: str) -> Iterator[Piece]:
    """The prose of a page. Fenced blocks, comments and rules of tables are left out."""
    held: list[tuple[int, str]] = []
    for number, line in visible(text):
        row = line.lstrip().startswith("|")
        if held and (row or not line.strip() or ITEM.match(line)):
            yield piece(held, in_table=False)
            held = []
        if row:
            yield piece([(number, line)], in_table=True)
        elif line.strip():
            held.append((number, ITEM.sub("", line, count=1)))
    if held:
        yield piece(held, in_table=False)


def visible(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a page, numbered from 1; those of code and comments are blank."""
    fence = ""
    text = re.sub(r"<!--.*?-->", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.DOTALL)
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        elif not fence:
            yield number, line
            continue
        yield number, ""


def piece(lines: Iterable[tuple[int, str]], *, in_table: bool) -> Piece:
    """Lines as one text: a span of code counts as one word, a link as its text."""
    raw = ""
    at: list[int] = []
    for number, line in lines:
        raw += line.strip() + " "
        at += [number] * (len(raw) - len(at))
    text, where, end = "", list[int](), 0
    for match in re.finditer(r"`[^`]*`|\]\([^)]*\)|!?\[|https?:\S+", raw):
        code = "`" if match[0][0] in "`h" else ""
        text += raw[end : match.start()] + code
        where += at[end : match.start()] + [at[match.start()]] * len(code)
        end = match.end()
    return Piece(text + raw[end:], (*where, *at[end:]), in_table)


def pages() -> list[Path]:
    """The pages of the project, without those under `NOT_YET`."""
    found = sorted({path for glob in PAGES for path in ROOT.glob(glob)})
    return [path for path in found if name(path) not in NOT_YET]


def code() -> list[Path]:
    """The files of code whose documentation is checked."""
    return sorted({path for glob in CODE for path in ROOT.glob(glob)})


def name(path: Path) -> str:
    """The path as seen from the project's folder, where it is below that."""
    path = path.resolve()
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)


def report(path: Path, words: dict[str, str]) -> list[str]:
    """The findings of a file, one a line."""
    text = path.read_text(encoding="utf-8")
    is_code = path.suffix in (".py", ".rs")
    findings = check_code(text, words, is_python=path.suffix == ".py") if is_code else check(text, words)
    return [f"{name(path)}:{finding.line}: {finding.found} ({finding.better})" for finding in findings]


def main(arguments: list[str]) -> int:
    """Check the files named, all code (`--code`), or all pages. Returns the exit status."""
    words = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    files = pages() if not arguments else code() if arguments == ["--code"] else [Path(name) for name in arguments]
    lines = [line for path in files for line in report(path, words)]
    if not arguments:
        lines += [f"{page}: passes, so take it off NOT_YET" for page in NOT_YET if not report(ROOT / page, words)]
    if lines:
        print("\n".join(lines))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
