"""Room on disks."""

from __future__ import annotations

import os
import shutil


def of_bytes(size: int) -> str:
    """A size for people: 1.6 GB."""
    number = float(size)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if number < 999.5 or unit == "TB":
            break
        number /= 1000
    digits = f"{number:.0f}" if unit == "B" or number > 999 else f"{number:.3g}"
    return f"{digits} {unit}"


def free_bytes(folder: str) -> int | None:
    """What is free where `folder` is, or will be; `None` if the system does not say."""
    place = os.path.abspath(folder)
    while not os.path.exists(place) and (parent := os.path.dirname(place)) != place:
        place = parent
    try:
        return shutil.disk_usage(place).free
    except OSError:
        return None
