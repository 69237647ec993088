"""The page and one recording, for the browser on this machine."""

from __future__ import annotations

import shutil
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from hopcast.view.folder import DESCRIPTION, PARTS, Folder
from hopcast.view.page import template

HOST = "127.0.0.1"


class Server(ThreadingHTTPServer):
    """Serves the page and the files of one recording, on loopback alone."""

    daemon_threads = True
    # Connections that wait to be accepted: with the five of the standard library, more at once are delayed by seconds.
    request_queue_size = 128

    def __init__(self, recording: Folder, port: int = 0) -> None:
        super().__init__((HOST, port), _Handler)
        self.recording = recording
        self.page = template().encode()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a browser that goes away, and what else goes wrong as usual."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://{HOST}:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    # Seconds after which a connection that says nothing is closed.
    timeout = 30.0

    def do_GET(self) -> None:
        """Answer with the page, or with a file of the recording."""
        name = self.path.removeprefix("/")
        # A page of another site whose name leads to this address must not read the recording.
        hosts = [f"{host}:{self.server.server_port}" for host in (HOST, "localhost")]
        if self.headers.get("Host") not in hosts:
            self.send_error(HTTPStatus.FORBIDDEN)
        elif name == "":
            self._begin("text/html; charset=utf-8", len(self.server.page))
            self.wfile.write(self.server.page)
        elif name in (DESCRIPTION, *PARTS) and (file := self.server.recording.path / name).is_file():
            kind = "application/json" if name == DESCRIPTION else "application/octet-stream"
            with open(file, "rb") as part:
                self._begin(kind, file.stat().st_size)
                shutil.copyfileobj(part, self.wfile, 1 << 20)
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _begin(self, kind: str, size: int) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(size))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Say nothing: the reader has no use for requests."""
