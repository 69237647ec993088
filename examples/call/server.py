"""Answers a WebRTC call by aiortc, and says what it has received.

Run:      python server.py [FILE]: waits for `phone.py` at port 8080, and writes what it counted to FILE or to standard output
Needs:    aiortc (`pip install aiortc`)
"""

import asyncio
import json
import sys

from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

PATIENCE = 10.0
"""Seconds without a picture after which the call is over, if its end was lost."""


async def answer(reader, writer):
    """Takes an offer of one line, answers it in one line, and counts until the video ends."""
    connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    await connection.setRemoteDescription(RTCSessionDescription(**json.loads(await reader.readline())))
    receiver = connection.getReceivers()[0]
    await connection.setLocalDescription(await connection.createAnswer())
    writer.write(json.dumps({"sdp": connection.localDescription.sdp, "type": "answer"}).encode() + b"\n")
    await writer.drain()
    pictures = 0
    try:
        while True:
            await asyncio.wait_for(receiver.track.recv(), PATIENCE)
            pictures += 1
    except (MediaStreamError, TimeoutError):
        pass
    statistics = await receiver.getStats()
    media = next(entry for entry in statistics.values() if entry.type == "inbound-rtp")
    await connection.close()
    return {
        "ssrc": media.ssrc,
        "packets_received": media.packetsReceived,
        "packets_lost": media.packetsLost,
        "jitter_s": media.jitter / 90_000,
        "pictures_decoded": pictures,
    }


async def main():
    over = asyncio.get_running_loop().create_future()

    async def serve(reader, writer):
        over.set_result(await answer(reader, writer))

    async with await asyncio.start_server(serve, "0.0.0.0", 8080):
        text = json.dumps(await over)
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w") as file:
            file.write(text)
    else:
        print(text)


asyncio.run(main())
