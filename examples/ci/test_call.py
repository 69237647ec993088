"""Does a call to the access point keep its quality next to five busy stations? A test for continuous integration, without root.

Run:      pytest test_call.py
Change:   PROGRAMS: iperf3 takes the place of your programs here. It sends what a video call sends, 1 Mb/s in packets of 1000 bytes
          SCENARIO: `hopcast init wifi` writes this one
"""

import json
import subprocess
from pathlib import Path

SCENARIO = Path(__file__).parents[1] / "wifi.toml"
PROGRAMS = {"server": "iperf3 -s -1", "phone": "sleep 1; iperf3 -c 10.0.0.1 -u -b 1M -l 1000 -t 5"}


def emulate(scenario, programs):
    """The results of an emulation in which these programs run at these nodes."""
    command = ["hopcast", "emulate", scenario, "--rootless", "--json"]
    for node, program in programs.items():
        command += ["--exec", node, program]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=120)
    assert done.returncode == 0, "a program failed, or the machine was too slow: standard error has the reason"
    return json.loads(done.stdout)


def test_a_call_keeps_its_quality_next_to_five_stations():
    result = emulate(SCENARIO, PROGRAMS)
    udp = [row for row in result["conversations"] if row["protocol"] == "udp" and row["from"] == "phone"]
    call = max(udp, key=lambda row: row["sent_bytes"])
    assert call["sent_packets"] > 600, "5 s of 1 Mb/s are 625 packets"
    assert call["loss_ratio"] < 0.01
    assert call["delay_p99_s"] < 0.05
