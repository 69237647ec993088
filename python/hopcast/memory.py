"""Tells a lack of memory from other errors. Imports nothing large, so that it works then."""

from __future__ import annotations

import errno


def shortage(error: BaseException) -> str | None:
    """What to say if an error comes from too little memory, in one line; `None` for another error.

    A library that does not get memory raises what it likes while it loads: `ImportError`, or `NameError` where an earlier part is
    missing, or the panic of a Rust library that can't start a thread. These count only where the address space is limited.
    """
    limit = _limit()
    is_out = isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
    is_thread = isinstance(error, RuntimeError) and str(error) == "can't start new thread"
    is_loading = isinstance(error, ImportError | NameError | AttributeError | SystemError)
    is_loading |= type(error).__name__ == "PanicException"
    if not is_out and not (limit is not None and (is_thread or is_loading)):
        return None
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    cause = f"{type(error).__name__}: {lines[-1]}" if lines else type(error).__name__
    if limit is None:
        return f"not enough memory ({cause})"
    return f"not enough memory: the address space is limited to {limit / 1e6:.0f} MB (ulimit -v); {cause}"


def _limit() -> int | None:
    """The limit on the address space of this process in bytes, if there is one."""
    try:
        import resource
    except ImportError:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft
