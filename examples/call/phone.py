"""Calls `server.py` by WebRTC (aiortc), and sends a moving picture of 320 x 240 points, 30 times a second.

Run:      python phone.py HOST SECONDS
Needs:    aiortc (`pip install aiortc`)
"""

import asyncio
import json
import sys

import numpy
from aiortc import RTCConfiguration, RTCPeerConnection, RTCRtpSender, RTCSessionDescription, VideoStreamTrack
from av import VideoFrame

TEXTURE = (
    numpy.random.default_rng(1).integers(0, 255, (30, 40, 3), dtype=numpy.uint8).repeat(8, axis=0).repeat(8, axis=1)
)


class Picture(VideoStreamTrack):
    """A texture of coloured squares that moves to the right."""

    moved = 0

    async def recv(self):
        timestamp, time_base = await self.next_timestamp()
        self.moved += 3
        frame = VideoFrame.from_ndarray(numpy.roll(TEXTURE, self.moved, axis=1), format="rgb24")
        frame.pts, frame.time_base = timestamp, time_base
        return frame


async def main(host, seconds):
    connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    connection.addTrack(Picture())
    # Without rtx: what is lost is sent again with the same SSRC, so that one number says what was lost for good.
    codecs = [codec for codec in RTCRtpSender.getCapabilities("video").codecs if codec.mimeType == "video/VP8"]
    connection.getTransceivers()[0].setCodecPreferences(codecs)
    await connection.setLocalDescription(await connection.createOffer())
    reader, writer = await asyncio.open_connection(host, 8080)
    writer.write(json.dumps({"sdp": connection.localDescription.sdp, "type": "offer"}).encode() + b"\n")
    await connection.setRemoteDescription(RTCSessionDescription(**json.loads(await reader.readline())))
    await asyncio.sleep(seconds)
    await connection.close()


asyncio.run(main(sys.argv[1], float(sys.argv[2])))
