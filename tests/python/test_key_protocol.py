"""The datagrams of docs/key-protocol.md, computed from its rules with the package cryptography."""

import re
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

PAGE = Path(__file__).parents[2] / "docs" / "key-protocol.md"
KEY = bytes(range(32))
A = bytes(range(0xA0, 0xB0))
B = bytes(range(0xB0, 0xC0))


def seal(kind: int, epoch: bytes, counter: int, plain: bytes) -> str:
    """The datagram with this content, in hexadecimal digits."""
    key = HKDF(hashes.SHA256(), 32, salt=epoch, info=b"hopcast 1 stream").derive(KEY)
    number = counter.to_bytes(8, "big")
    header = bytes([kind]) + epoch + number
    return (header + ChaCha20Poly1305(key).encrypt(bytes(4) + number, plain, header)).hex()


def control(bits: int, epoch: bytes, counter: int, floor: int) -> bytes:
    """What a control datagram seals."""
    return bytes([bits]) + epoch + counter.to_bytes(8, "big") + floor.to_bytes(8, "big")


def test_the_vectors_follow_from_the_rules() -> None:
    vectors = re.findall(r"^datagram ([0-9a-f]+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    padded = b"hello" + bytes(27) + bytes([28])
    assert vectors == [
        seal(0x12, A, 0, padded),
        seal(0x11, B, 0, control(3, A, 0, 0)),
        seal(0x11, A, 1, control(2, B, 0, 0)),
        seal(0x10, A, 2, b"at least 33 bytes need no padding"),
    ]
