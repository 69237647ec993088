"""The datagrams of docs/key-protocol.md, computed from its rules with the package cryptography."""

import hashlib
import hmac
import re
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

PAGE = Path(__file__).parents[2] / "docs" / "key-protocol.md"
KEY = bytes(range(32))
A = bytes(range(0xA0, 0xB0))
B = bytes(range(0xB0, 0xC0))


def vectors(name: str) -> list[str]:
    """The lines of the page that begin with this name."""
    return re.findall(rf"^{name} ([0-9a-f]+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def seal(kind: int, epoch: bytes, counter: int, plain: bytes, purpose: bytes = b"stream handshake") -> str:
    """The datagram with this content, in hexadecimal digits."""
    key = HKDF(hashes.SHA256(), 32, salt=epoch, info=b"hopcast 1 " + purpose).derive(KEY)
    number = counter.to_bytes(8, "big")
    header = bytes([kind]) + epoch + number
    return (header + ChaCha20Poly1305(key).encrypt(bytes(4) + number, plain, header)).hex()


def control(bits: int, epoch: bytes, counter: int, floor: int) -> bytes:
    """What a control datagram seals."""
    return bytes([bits]) + epoch + counter.to_bytes(8, "big") + floor.to_bytes(8, "big")


def test_the_vectors_follow_from_the_rules() -> None:
    padded = b"hello" + bytes(27) + bytes([28])
    assert vectors("datagram") == [
        seal(0x12, A, 0, padded),
        seal(0x11, B, 0, control(3, A, 0, 0)),
        seal(0x11, A, 1, control(2, B, 0, 0)),
        seal(0x10, A, 2, b"at least 33 bytes need no padding"),
    ]


def test_signed_datagrams_follow_from_the_rules() -> None:
    one, other = (Ed25519PrivateKey.from_private_bytes(bytes(range(first, first + 32))) for first in (0x20, 0x60))

    def signed(secret: Ed25519PrivateKey, kind: int, epoch: bytes, counter: int, payload: bytes, padding: bytes) -> str:
        header = bytes([kind]) + epoch + counter.to_bytes(8, "big")
        signature = secret.sign(b"hopcast 1 identity node olsr\0" + header + payload)
        return seal(kind, epoch, counter, payload + padding + signature, b"node olsr")

    def mark(secret: Ed25519PrivateKey) -> bytes:
        return secret.public_key().public_bytes_raw()[:8]

    assert vectors("signed") == [
        signed(one, 0x16, A, 0, b"hello", bytes(35) + bytes([36])),
        signed(other, 0x15, B, 0, control(3, A, 0, 0) + mark(other), b""),
        signed(one, 0x15, A, 1, control(2, B, 0, 0) + mark(one), b""),
    ]


class Symmetric:
    """CipherState and SymmetricState of the Noise specification (sections 5.1 and 5.2), as far as NNpsk0 needs them."""

    def __init__(self, protocol: bytes, prologue: bytes) -> None:
        # Longer than a hash.
        self.chain = self.hash = hashlib.sha256(protocol).digest()
        self.key = bytes(32)
        self.counter = 0
        self.mix_hash(prologue)

    def mix_hash(self, octets: bytes) -> None:
        """MixHash."""
        self.hash = hashlib.sha256(self.hash + octets).digest()

    def derive(self, octets: bytes, count: int) -> list[bytes]:
        """HKDF of the specification (section 4.3)."""
        key, found = hmac.digest(self.chain, octets, "sha256"), [b""]
        for number in range(1, count + 1):
            found.append(hmac.digest(key, found[-1] + bytes([number]), "sha256"))
        return found[1:]

    def mix_key(self, octets: bytes) -> None:
        """MixKey."""
        self.chain, self.key = self.derive(octets, 2)
        self.counter = 0

    def mix_shared(self, octets: bytes) -> None:
        """MixKeyAndHash."""
        self.chain, mixed, self.key = self.derive(octets, 3)
        self.mix_hash(mixed)
        self.counter = 0

    def seal(self, plain: bytes) -> bytes:
        """EncryptAndHash."""
        sealed = ChaCha20Poly1305(self.key).encrypt(nonce(self.counter), plain, self.hash)
        self.counter += 1
        self.mix_hash(sealed)
        return sealed


def nonce(counter: int) -> bytes:
    """The nonce of ChaChaPoly (section 12.3)."""
    return bytes(4) + counter.to_bytes(8, "little")


def session() -> list[str]:
    """Messages of the handshake, and datagrams of the session, in hexadecimal digits."""
    one, other = (X25519PrivateKey.from_private_bytes(bytes(range(first, first + 32))) for first in (0x40, 0x80))
    ours, theirs = (secret.public_key().public_bytes_raw() for secret in (one, other))
    state = Symmetric(b"Noise_NNpsk0_25519_ChaChaPoly_SHA256", b"hopcast 1 stream")
    # -> psk, e
    state.mix_shared(HKDF(hashes.SHA256(), 32, salt=None, info=b"hopcast 1 noise stream").derive(KEY))
    state.mix_hash(ours)
    state.mix_key(ours)
    first = ours + state.seal(b"")
    # <- e, ee
    state.mix_hash(theirs)
    state.mix_key(theirs)
    state.mix_key(one.exchange(X25519PublicKey.from_public_bytes(theirs)))
    second = theirs + state.seal(b"")
    forth, back = state.derive(b"", 2)

    def datagram(key: bytes, counter: int, plain: bytes) -> bytes:
        header = b"\x20" + ours[:8] + counter.to_bytes(8, "big")
        return header + ChaCha20Poly1305(key).encrypt(nonce(counter), plain, b"")

    sealed = [datagram(forth, 0, b"hello"), datagram(forth, 1, b"media"), datagram(back, 0, b"feedback")]
    return [octets.hex() for octets in (first, second, *sealed)]


def test_a_session_follows_from_the_rules() -> None:
    assert vectors("session") == session()
