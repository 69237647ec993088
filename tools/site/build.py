"""Build hopcast's site from the pages of the repository, and check every link in it.

`python tools/site/build.py FOLDER` writes the pages with Sphinx and the documentation of the crates with rustdoc. Any warning is an
error. `--check` builds the pages alone, in a folder that is removed again. The site needs no server: open `index.html`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import links

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CRATES = ("wire", "protocols", "radio", "sim", "live")
KEPT = ROOT / "target" / "site"
"""What a second build uses again."""
FRONT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>hopcast</title>
<meta http-equiv="refresh" content="0; url=docs/index.html"><a href="docs/index.html">hopcast</a></html>
"""


def pages(folder: Path, doctrees: Path) -> None:
    """Write the pages. Any warning of Sphinx is an error."""
    strict = ("--quiet", "--fail-on-warning", "--jobs", "auto")
    subprocess.run(
        [sys.executable, "-m", "sphinx", *strict, "-c", HERE, "-d", doctrees, "-b", "html", ROOT, folder],
        check=True,
    )
    (folder / "index.html").write_text(FRONT, encoding="utf-8")


def crates(folder: Path) -> None:
    """Write what rustdoc makes of the crates into the folder `rust`."""
    chosen = [part for crate in CRATES for part in ("-p", f"hopcast-{crate}")]
    # A separate target directory, because the usual one also has private items and the crates of tests.
    subprocess.run(
        [
            "cargo",
            "doc",
            "--quiet",
            "--no-deps",
            "--locked",
            "--lib",
            "--features",
            "hopcast-protocols/testkit",
            *chosen,
            "--target-dir",
            KEPT / "rust",
        ],
        cwd=ROOT,
        env=os.environ | {"RUSTDOCFLAGS": "-D warnings"},
        check=True,
    )
    shutil.rmtree(folder / "rust", ignore_errors=True)
    shutil.copytree(KEPT / "rust" / "doc", folder / "rust")


def main() -> int:
    """Build or check. Returns the exit status."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("folder", type=Path, nargs="?")
    arguments.add_argument("--check", action="store_true", help="build the pages alone, and keep nothing")
    given = arguments.parse_args()
    if given.check == (given.folder is not None):
        arguments.error("give a folder or --check")
    with TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary) / "site"
        try:
            if given.check:
                pages(folder, Path(temporary) / "doctrees")
            else:
                crates(folder)
                pages(folder, KEPT / "doctrees")
        except subprocess.CalledProcessError as error:
            return int(error.returncode)
        broken = links.broken(folder, absent=() if given.folder else ("rust",))
    for finding in broken:
        print(finding, file=sys.stderr)
    if not broken and given.folder:
        print(f"The site is {folder / 'index.html'}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
