"""The register of the papers' sentences, from which all studies of this package read their lines."""

from __future__ import annotations

from pathlib import Path

from hopcast.lab.register import Register

REGISTER = Register.read(Path(__file__).with_name("register.toml"))
NOISE, UNAFFECTED, RESOLUTION = (REGISTER.words[word] for word in ("noise", "unaffected", "resolution"))
"""Numbers for words, which notes use as well; the register says what they are."""
