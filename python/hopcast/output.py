"""Write files completely or not at all."""

from __future__ import annotations

import errno
import json
import os
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from hopcast.errors import OutputError, RunError


@contextmanager
def prepared(folder: str | os.PathLike[str], names: Iterable[str] = ()) -> Iterator[None]:
    """Make the folder while it is in use, and check that it is writable.

    Raises `OutputError` if it is not, or if a folder has the name of one of the files `names`; nothing has run yet.
    If the following step fails before it writes anything, the new folders are removed again.
    """
    path = os.fspath(folder)
    made = _missing(path)
    try:
        try:
            if not path:
                raise OSError(errno.ENOENT, "a folder has a name")
            os.makedirs(path, exist_ok=True)
            with tempfile.TemporaryFile(dir=path):
                pass
        except (FileExistsError, NotADirectoryError) as error:
            file = next(place for place in (path, *map(str, Path(path).parents)) if os.path.lexists(place))
            where = "can't write results there: " if file == path else f"can't write results there: {file} "
            raise OutputError(error.errno, f"{where}is a file; expected a folder", path) from None
        except (OSError, ValueError) as error:
            problem = error.strerror if isinstance(error, OSError) else error
            number = error.errno if isinstance(error, OSError) else errno.EINVAL
            raise OutputError(number, f"can't write results there: {problem}", path or "''") from None
        for name in names:
            if os.path.isdir(target := os.path.join(path, name)):
                raise OutputError(errno.EISDIR, "can't be written: a folder is there", target)
        yield
    except BaseException:
        for empty in made:
            with suppress(OSError):
                os.rmdir(empty)
        raise


@contextmanager
def alone(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Hold a folder, which must exist, while one run or study writes there; the lock ends with the process.

    Raises `OutputError` if another one holds it. Does nothing where the system has no such locks.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    path = os.fspath(folder)
    held = os.open(path, os.O_RDONLY)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputError(
                errno.EBUSY, f"{_holder(held)} is writing results there; wait for it, or name another folder", path
            ) from None
        except OSError:
            # Some file systems have no locks.
            pass
        yield
    finally:
        os.close(held)


def _holder(folder: int) -> str:
    """The process that holds the lock on an open folder, as far as Linux says which one it is."""
    try:
        of = os.fstat(folder)
        file = f"{os.major(of.st_dev):02x}:{os.minor(of.st_dev):02x}:{of.st_ino}"
        with open("/proc/locks", encoding="ascii") as locks:
            fields = [line.split() for line in locks]
        owners = [field[4] for field in fields if field[1] == "FLOCK" and field[5] == file]
    except (OSError, IndexError):
        owners = []
    return f"process {owners[0]}" if owners and owners[0] != str(os.getpid()) else "another run"


def _missing(path: str) -> list[str]:
    """The missing folders on this path, innermost first."""
    missing = []
    while path and not os.path.lexists(path):
        missing.append(path)
        path = os.path.dirname(path.rstrip(os.sep))
    return missing


def write_json(path: str | os.PathLike[str], document: Any) -> None:
    """Write a JSON document, indented, with a final line break."""
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_text(path, text)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text."""
    write_bytes(path, text.encode())


def write_bytes(path: str | os.PathLike[str], octets: bytes) -> None:
    """Write bytes."""
    write(path, lambda file: file.write(octets))


def write(path: str | os.PathLike[str], fill: Callable[[IO[bytes]], object], *, sync: bool = True) -> None:
    """Write a file with `fill` under a temporary name, and rename it when it is complete. Without `sync`, a crash of the
    machine may leave a file that is cut off. Raises `RunError`.
    """
    target = Path(path)
    # Processes of other machines may have the same number, and write to the same folder.
    temporary = target.with_name(f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
    try:
        try:
            with open(temporary, "wb") as file:
                fill(file)
                file.flush()
                if sync:
                    os.fsync(file.fileno())
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise RunError(f"{target}: can't be written: {error.strerror or error}") from None
