"""The check of the pages' style finds what it promises, and nothing else."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

CHECK = ROOT / "tools" / "docs" / "prose.py"
LONG = "Word " + " ".join(["word"] * 35) + "."


def checked(script: Path, *files: Path) -> tuple[int, list[str]]:
    """The exit status and the findings."""
    done = subprocess.run([sys.executable, script, *files], capture_output=True, encoding="utf-8", check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def findings(page: Path, text: str) -> list[str]:
    """What is found on a page: line and text of each finding."""
    page.write_text(text, encoding="utf-8")
    status, lines = checked(CHECK, page)
    assert status == (1 if lines else 0)
    return [line.removeprefix(f"{page}:") for line in lines]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Heading\n\nA frame goes\nto Nobody.\n", '4: "Nobody" (say: name the node or the program)'),
        ("| a | packets and octets |\n", '1: "octets"'),
        ("ADTFRC takes some losses for a sign.\n", '1: "takes some losses for a" (say: treats … as a)'),
        (f"Short.\n\n* Short. {LONG}\n", '3: "Word word word word word word …" (36 words in a sentence'),
        ("a " * 20 + "[" + "b " * 15 + "c](https://example.org).\n", '1: "a a a a a a …" (36 words in a sentence'),
    ],
)
def test_finds_a_word_and_a_long_sentence_with_its_line(tmp_path: Path, text: str, expected: str) -> None:
    (found,) = findings(tmp_path / "page.md", text)
    assert found.startswith(expected)


@pytest.mark.parametrize(
    "text",
    [
        "Say `octet` in code.\n\n```\nnobody, octets\n```\n\n<!-- nobody -->\n",
        "Waits for a node, nobody-like; a [page](octets.md).\n",
        f"| {LONG} |\n",
        LONG.replace("word ", "", 1) + " See Fig. 3 of A. Author.\n",
        "* " + "word " * 20 + "\n* " + "word " * 20 + "\n",
        "word " * 30 + "`a b c d e f g h`.\n",
        "**" + "Word " * 20 + "end.** " + "Word " * 20 + "end. hopcast " + "word " * 20 + "\n",
        "Word " * 20 + "of 2 s. " + "Word " * 20 + "of 300 B. " + "Word " * 20 + "\n",
    ],
)
def test_leaves_code_links_tables_and_short_sentences_alone(tmp_path: Path, text: str) -> None:
    assert findings(tmp_path / "page.md", text) == []


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.py", 'SIZE = 1\n"""Size in octets.\n\nAs `octets` says.\n"""\nTEXT = "nobody"  # nobody\n', '2: "octets"'),
        (
            "a.rs",
            '// octets\n/// Waits for\n/// nobody; `None` if there is none.\nfn f() -> &str { "nobody" }\n',
            '3: "nobody"',
        ),
        ("a.rs", "//! In vain.\n//!\n//! ```\n//! nobody();\n//! ```\n", '1: "In vain"'),
    ],
)
def test_finds_words_in_documentation_of_code_only(tmp_path: Path, name: str, text: str, expected: str) -> None:
    (found,) = findings(tmp_path / name, text)
    assert found.startswith(expected)


def test_a_listed_page_is_excused_until_it_passes(tmp_path: Path) -> None:
    folder = tmp_path / "tools" / "docs"
    folder.mkdir(parents=True)
    shutil.copy(CHECK.with_name("words.toml"), folder)
    script = folder / "prose.py"
    excused = re.compile(r"^NOT_YET(.*?) = \(.*?\)\n", re.DOTALL | re.MULTILINE)
    text, replaced = excused.subn('NOT_YET = ("bad.md",)\n', CHECK.read_text(encoding="utf-8"))
    assert replaced == 1
    script.write_text(text, encoding="utf-8")
    (tmp_path / "bad.md").write_text("Nobody.\n", encoding="utf-8")
    assert checked(script) == (0, [])
    (tmp_path / "new.md").write_text("Nobody.\n", encoding="utf-8")
    status, (line,) = checked(script)
    assert (status, line.partition(" ")[0]) == (1, "new.md:1:")
    (tmp_path / "new.md").unlink()
    (tmp_path / "bad.md").write_text("Somebody.\n", encoding="utf-8")
    assert checked(script) == (1, ["bad.md: passes, so take it off NOT_YET"])
