"""A gateway that polls a sensor: two applications in Python, each of which is told of what the other one sends.

Run it over a string of three nodes with lossy links::

    python examples/sensor_poll.py

The gateway sends a request at the beginning of each period. The sensor answers each request that reaches it after the time that a
measurement takes. If no answer comes in time, the gateway sends the request again, up to a number of attempts. It ends after a number
of periods.
"""

from __future__ import annotations

from collections import deque
from math import inf

import hopcast
from hopcast.application import Application
from hopcast.random import Stream


class Poll(Application):
    """The requests: `size` bytes at the beginning of each `period`, and again after each `timeout` without an answer, up to `attempts`
    in all; for `polls` periods. Times are in seconds."""

    is_finite = True

    def __init__(
        self,
        start: float,
        random: Stream,
        *,
        polls: int,
        period: float = 1.0,
        timeout: float = 0.1,
        attempts: int = 3,
        size: int = 20,
    ) -> None:
        if attempts < 1 or timeout <= 0 or (attempts - 1) * timeout >= period:
            raise ValueError(f"{attempts} attempts, one each {timeout} s, don't fit into a period of {period} s")
        self.largest_write = size
        self.left, self.period, self.timeout, self.attempts = polls, period, timeout, attempts
        self.begin = self.next = start
        self.sent = 0
        """Attempts in this period that have got no answer."""

    def poll_write(self, now: float) -> int:
        return self.largest_write

    def handle_written(self, now: float) -> None:
        self.sent += 1
        self.next = now + self.timeout
        if self.sent == self.attempts:
            self.end_period()

    def handle_received(self, octets: int, now: float) -> None:
        # The answer to the last attempt ends nothing: the next period has its beginning in any case.
        if self.sent > 0:
            self.end_period()

    def end_period(self) -> None:
        self.left -= 1
        self.begin += self.period
        self.next, self.sent = self.begin, 0

    def poll_timeout(self) -> float | None:
        return self.next if self.left > 0 else None


class Sensor(Application):
    """The readings: `size` bytes, `measurement` seconds after each request."""

    def __init__(self, start: float, random: Stream, *, size: int = 200, measurement: float = 0.02) -> None:
        self.largest_write, self.measurement = size, measurement
        self.due: deque[float] = deque()

    def poll_write(self, now: float) -> int:
        return self.largest_write

    def handle_written(self, now: float) -> None:
        self.due.popleft()

    def handle_received(self, octets: int, now: float) -> None:
        self.due.append(now + self.measurement)

    def poll_timeout(self) -> float:
        # Infinite: until a request comes, there is nothing to write.
        return self.due[0] if self.due else inf


SCENARIO = """
name = "a sensor that is polled"
duration = "101 s"
[radio]
standard = "802.11b"
data_rate = "2 Mb/s"
propagation = { model = "range", receive = "150 m", carrier_sense = "300 m" }
errors = { model = "packet", rate = 0.1, level = "network" }
[[nodes]]
name = "n"
count = 3
placement = { shape = "line", spacing = "100 m" }
[[flows]]
name = "requests"
from = "n0"
to = "n2"
listens_to = "readings"
transport = { protocol = "udp" }
application = { kind = "custom", name = "poll", parameters = { polls = 100 } }
[[flows]]
name = "readings"
from = "n2"
to = "n0"
listens_to = "requests"
transport = { protocol = "udp" }
application = { kind = "custom", name = "sensor" }
"""

EXTENSIONS = hopcast.Extensions(application={"poll": Poll, "sensor": Sensor})

if __name__ == "__main__":
    result = hopcast.run(hopcast.Scenario.from_toml(SCENARIO, extensions=EXTENSIONS))
    print(result.flows.select("name", "sent_packets", "received_packets", "delay_mean_s"))
