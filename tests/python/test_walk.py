"""The reader that follows pages finds what a page says wrongly."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from walk import alike, walk

PAGE = """# Page

Save this as `greeting.toml`:

```toml
word = "hello"
```

The numbers will be within 10 % of these:

```console
$ cat greeting.toml
word = "hello"
$ echo 1 234.5 and \\
    7 ms; printf 'a\\nb\\nc\\n'
1 200.0 and 7 ms
…
c
```

A mistake:

```console
$ echo 'hopcast: no such file'; false
hopcast: no such …
$ cd /; word=again
$ echo $word $PWD
again /
```

To be read:

```
$ rm -r /nothing
```
"""


def follow(page: str, folder: Path) -> None:
    walk(
        page,
        folder,
        lambda command: subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False),
    )


def test_a_page_that_is_right_passes(tmp_path: Path) -> None:
    follow(PAGE, tmp_path)


@pytest.mark.parametrize(
    ("text", "changed", "told"),
    [
        ("1 200.0", "1 000.0", "line 11: echo 1 234.5 and 7 ms"),
        ("\nc\n", "\nd\n", "line 11: echo 1 234.5"),
        ("; false", "", "line 23: echo 'hopcast: no such file': status 0"),
        ("no such …", "none …", "line 23: .*it printed"),
        ("again /", "again", "line 23: echo .word .PWD: it printed"),
        ('word = "hello"\n```\n\nThe', 'word = "bye"\n```\n\nThe', "line 11: cat greeting.toml: it printed"),
        ("Save this as `greeting.toml`:", "Save this:", "line 5: no sentence before this block ends"),
        ("within 10 % of", "like", "line 11: echo 1 234.5"),
        ("word=again", "exit 3", "the shell ended in 'cd /; exit 3'"),
        ("$ cat", "cat", "line 11: a console block begins with a command"),
    ],
)
def test_a_mistake_is_found_with_its_place(text: str, changed: str, told: str, tmp_path: Path) -> None:
    assert PAGE.count(text) == 1
    with pytest.raises(AssertionError, match=told):
        follow(PAGE.replace(text, changed), tmp_path)


@pytest.mark.parametrize(
    ("shown", "printed", "tolerance", "expected"),
    [
        ("│ film     │  12.5 │", "│ film  │    12.6 │", 0.1, True),
        ("│ film     │  12.5 │", "│ film  │    12.6 │", None, False),
        ("n0 got 5.0 ms", "n1 got 5.0 ms", 0.1, False),
        ("5 of 10", "5 of 12", 0.1, False),
        ("events in 0.27 s", "events in 12 s", None, True),
        ("lost 0 %", "lost 1 %", 0.5, False),
        ("a … b", "a 7 8 b", 0.1, True),
    ],
)
def test_lines_are_compared(shown: str, printed: str, tolerance: float | None, expected: bool) -> None:
    assert alike(shown, printed, tolerance) is expected
