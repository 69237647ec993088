"""Entry point of the command line: handles Ctrl-C before any slow import."""

import os
import signal


def main() -> None:
    """Run the command line, and exit with its status."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _leave)
    try:
        from hopcast.cli import main

        main()
    except BaseException as error:
        from hopcast.memory import shortage

        if (said := shortage(error)) is None:
            raise
        # Without the interpreter's own end, in which threads of libraries may wait for memory.
        os.write(2, f"hopcast: {said}\n".encode())
        os._exit(1)


def _leave(number: int, _frame: object) -> None:
    """Exit: nothing has begun, so there is nothing to keep."""
    os.write(2, b"hopcast: interrupted\n")
    os._exit(128 + number)
