"""Counts the packets of an RTP stream by their sequence numbers (RFC 3550, appendix A.3), until none has come for some seconds.

Run:      python film_receiver.py PORT [FILE]: writes what it counted to FILE or to standard output
"""

import json
import socket
import struct
import sys

START, END = 60.0, 8.0
"""Seconds to wait for the first packet, and for another one."""


def count(port):
    seen, first, highest, ssrc = set(), None, 0, None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("", port))
        receiver.settimeout(START)
        try:
            while True:
                datagram = receiver.recv(65535)
                receiver.settimeout(END)
                number, ssrc = struct.unpack_from("!2xH4xI", datagram)
                if first is None:
                    first = highest = number
                # The nearest number to the highest one: the counter starts again behind 65535.
                extended = highest + (number - highest + 0x8000) % 0x10000 - 0x8000
                highest = max(highest, extended)
                seen.add(extended)
        except TimeoutError:
            pass
    if not seen:
        return {"packets_received": 0}
    return {"ssrc": ssrc, "packets_received": len(seen), "packets_lost": highest - min(seen) + 1 - len(seen)}


text = json.dumps(count(int(sys.argv[1])))
if len(sys.argv) > 2:
    with open(sys.argv[2], "w") as file:
        file.write(text)
else:
    print(text)
