"""The page with a recording in it: one file that opens without a network."""

from __future__ import annotations

import base64
import json
import os
import zlib
from importlib import resources
from typing import IO

from hopcast.output import write
from hopcast.view.folder import PARTS, Folder

MARK = "<!-- recording -->"
MOST_BYTES = 100_000_000
"""Most bytes of compressed parts in a page: a browser holds them several times while it opens."""
LOT = 3 << 20
"""Bytes to compress at a time, a multiple of three so that their texts can follow each other."""


class TooLarge(Exception):
    """A recording does not fit into a page; says what to do instead."""


def template() -> str:
    """The page without a recording."""
    return resources.files("hopcast.view").joinpath("page.html").read_text(encoding="utf-8")


def write_page(recording: Folder, target: str | os.PathLike[str]) -> None:
    """Write the page with this recording in it. Raises `TooLarge`, and `RunError` if the file can't be written."""
    before, mark, after = template().partition(MARK)
    if not mark:
        raise AssertionError("the page has a place for a recording")
    # No text of a recording may end the element that holds it.
    about = json.dumps(recording.about, ensure_ascii=False).replace("</", "<\\/")

    def fill(file: IO[bytes]) -> None:
        file.write(before.encode())
        file.write(f'<script id="recording" type="application/json">{about}</script>\n'.encode())
        room = MOST_BYTES
        for name in PARTS:
            if (recording.path / name).is_file():
                file.write(f'<script class="part" data-name="{name}" type="text/plain">'.encode())
                room = _write_part(recording, name, file, room)
                file.write(b"</script>\n")
        file.write(after.encode())

    write(target, fill)


def _write_part(recording: Folder, name: str, file: IO[bytes], room: int) -> int:
    """Write a part as the Base64 text of its gzip, and return the room that is left."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    waiting = b""
    with open(recording.path / name, "rb") as part:
        while lot := part.read(LOT):
            waiting += packer.compress(lot)
            whole = len(waiting) // 3 * 3
            file.write(base64.b64encode(waiting[:whole]))
            waiting, room = waiting[whole:], room - whole
            if room < 0:
                raise TooLarge(
                    f"{recording.path}: the recording is too large for one page, which may hold "
                    f"{MOST_BYTES // 1_000_000} MB. View it without --out, or record a shorter run."
                )
    rest = waiting + packer.flush()
    file.write(base64.b64encode(rest))
    return room - len(rest)
