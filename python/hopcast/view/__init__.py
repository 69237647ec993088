"""The viewer: what happened in a recorded run, as a page in the browser, or for Perfetto."""

from __future__ import annotations

from hopcast.view.folder import Folder, NothingToView, find
from hopcast.view.page import TooLarge, write_page
from hopcast.view.perfetto import write_perfetto
from hopcast.view.server import Server

__all__ = ["Folder", "NothingToView", "Server", "TooLarge", "find", "write_page", "write_perfetto"]
