"""Wrong inputs of all commands: one line that says what is wrong and what would be right, the exit status, and nothing left
behind.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from conftest import TOML, Hopcast, command
from ordinary_user import as_ordinary_user, closed_folders, skip_unless_possible

ON_LINUX = sys.platform == "linux"
"""The live commands and emulation need it."""

ADU = 'kind = "adu", size = "1024 B", wait = "1 ms"'
LINE = 'placement = { shape = "line", spacing = "5 m" }'
WIRE = """
duration = "1 s"

[[nodes]]
name = "a"
role = "wired"

[[nodes]]
name = "b"
role = "wired"

[[links]]
between = ["a", "b"]
delay = "1 ms"
"""


def film(trace: str) -> str:
    return TOML.replace(ADU, f'kind = "video-trace", file = "{trace}"')


def walk(trace: str) -> str:
    return TOML.replace(LINE, f'{LINE}\nmobility = {{ model = "trace", file = "{trace}" }}')


def wire(trace: str) -> str:
    return WIRE + f'trace = {{ file = "{trace}" }}\n'


def sweep(text: str, scenario: str = "s.toml") -> str:
    return f'scenario = "{scenario}"\n{text}\n'


GRID = '[grid]\n"duration" = ["100 ms", "200 ms"]'
FILES: dict[str, str | bytes] = {
    # Scenarios.
    "s.toml": TOML,
    "real.toml": TOML.replace('name = "n"\n', 'name = "n"\nreal = true\n'),
    "empty.toml": "",
    "binary.toml": bytes(range(256)),
    "latin-1.toml": 'duration = "1 s"\nname = "café"\n'.encode("latin-1"),
    "json.toml": '{"duration": "1 s"}',
    "cut.toml": TOML[: TOML.index('"line"') + 3],
    "twice.toml": 'duration = "1 s"\nduration = "2 s"\n',
    "point.toml": TOML.replace('shape = "line", spacing = "5 m"', 'shape = "points", at = [["0 m", "0 m"]]'),
    "same-names.toml": TOML.replace('name = "bulk"', 'name = "units"'),
    "loop.toml": WIRE.replace('"a", "b"', '"a", "a"') + 'rate = "1 Mb/s"\n',
    "a b\nc.toml": TOML.replace("data_rate", "data_rat"),
    # Traces.
    "film-cut.toml": film("film-cut"),
    "film-cut": "1 I 0 512\n2 P 33",
    "film-binary.toml": film("binary.toml"),
    "film-empty.toml": film("empty.toml"),
    "film-folder.toml": film("folder"),
    "film-none.toml": film("none"),
    "walk-cut.toml": walk("walk-cut"),
    "walk-cut": "$node_(0) set X_ 1.0\n$node_(0) set Y_",
    "walk-odd.toml": walk("walk-odd"),
    "walk-odd": "0 1 2 3 4\n",
    "walk-empty.toml": walk("empty.toml"),
    "link-negative.toml": wire("link-negative"),
    "link-negative": "time_s,rate_Mb/s\n0,5\n1,-3\n",
    "link-cut.toml": wire("link-cut"),
    "link-cut": "time_s,rate_Mb/s\n0,5\n1,",
    "link-back.toml": wire("link-back"),
    "link-back": "time_s,rate_Mb/s\n1,5\n0,3\n",
    "link-column.toml": wire("link-column"),
    "link-column": "time_s,rat_Mb/s\n0,5\n",
    "link-word.toml": wire("link-word"),
    "link-word": "0\n5\nx\n",
    # Sweeps.
    "sweep.toml": sweep(GRID),
    "sweep-unknown.toml": sweep("sead = 1\n" + GRID),
    "sweep-key.toml": sweep('[grid]\n"radio.data_rat" = ["6 Mb/s"]'),
    "sweep-value.toml": sweep('[grid]\nduration = ["1 s", "-2 s"]'),
    "sweep-nan.toml": sweep("[grid]\nduration = [nan]"),
    "sweep-twice.toml": sweep('[grid]\nduration = ["1 s", "1 s"]'),
    "sweep-lengths.toml": sweep('[zip]\n"radio.data_rate" = ["6 Mb/s"]\nduration = ["1 s", "2 s"]'),
    "sweep-empty-list.toml": sweep("[grid]\nduration = []"),
    "sweep-method.toml": sweep('[sample]\nmethod = "sobl"\nsize = 4\n"nodes.n.count" = [3, 5]'),
    "sweep-negative.toml": sweep("replications = -3\n" + GRID),
    "sweep-huge.toml": sweep(
        "[grid]\n" + "".join(f'"flows.{name}.start" = {list(range(1, 1200))}\n' for name in ("units", "bulk"))
    ),
    "sweep-none.toml": sweep(GRID, scenario="none.toml"),
    "sweep-itself.toml": sweep(GRID, scenario="empty.toml"),
    # Studies and models.
    "syntax.py": "def f(:\n",
    "nothing.py": "x = 1\n",
    "raises.py": 'x = 1\nraise ValueError("why")\n',
    "type.py": "EXTENSIONS = 3\n",
    # Results.
    "cut/run.json": '{"flows": [',
    "blank/run.json": "",
    "binary/run.json": bytes(range(255, 0, -1)),
    "other/run.json": '{"hello": 1}',
    "nan/run.json": '{"flows": [{"name": "a", "goodput_bps": NaN}]}',
    "names/run.json": '{"flows": [{"name": "a"}, {"name": "a"}]}',
    "folder/run.json/x": "",
    "rows/rows.json": '{"rows": 3}',
    "swept/sweep.json": "{}",
    "recorded/recording/seed-1/recording.json": '{"format": 99, "seed": 1, "events": 3}',
    "recorded-cut/recording/seed-1/recording.json": '{"format":',
    "list.json": "[1, 2]",
    # Keys, media, plans, recordings.
    "key": "0" * 63 + "\n",
    "open-key": "0" * 64 + "\n",
    "sound-key": "1" * 64 + "\n",
    "identity-key": "identity " + "2" * 64 + "\n",
    "letters-key": "0" * 63 + "g\n",
    "text": "hello\n",
    "nothing": "",
    "plan.toml": "[hosts]\nrepetitions = 0\n",
    "plan-cut.toml": '[hosts\na = "here"\n',
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return fill(tmp_path)


def fill(folder: Path) -> Path:
    """A folder with all of `FILES`, an empty folder, and links that lead nowhere."""
    for name, content in FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        file.chmod(0o600 if name.endswith("key") and name != "open-key" else 0o644)
    (folder / "void").mkdir()
    (folder / "circle.toml").symlink_to("circle.toml")
    return folder


def contents(folder: Path) -> dict[str, tuple[int, int]]:
    """Everything below a folder: sizes and times of change."""
    stats = {str(path.relative_to(folder)): path.lstat() for path in folder.rglob("*")}
    return {name: (0 if (folder / name).is_dir() else of.st_size, of.st_mtime_ns) for name, of in stats.items()}


@dataclass(frozen=True)
class Wrong:
    """What is typed, and what is told. `…` in `told` stands for what depends on the machine."""

    typed: Sequence[str]
    told: str
    status: int = 2
    helps: str | None = None
    """The command whose help a second line names."""

    @property
    def is_live(self) -> bool:
        return self.typed[0] in ("emulate", "node", "stream", "probe", "cloud", "key")

    def pattern(self) -> str:
        """A regular expression for standard error."""
        told = f"hopcast: {self.told}\n"
        if self.helps is not None:
            told += f"`{self.helps} --help` shows what it takes\n"
        return ".*".join(map(re.escape, told.split("…")))


def wrong(line: str, told: str, status: int = 2, *, helps: str | None = None) -> Wrong:
    """`line` has the words as typed after `hopcast`."""
    return Wrong(line.split(" "), told, status, helps)


def change(key: str, told: str) -> Wrong:
    """A run with one value set."""
    return Wrong(["run", "s.toml", "--set", key], f"--set: {told}")


TO = ["--to", "127.0.0.1:9"]
INPUTS = [
    # --- what is typed: commands, options, values
    wrong("sceama", "there is no command sceama; did you mean schema?", helps="hopcast"),
    wrong("schema --result", "there is no option --result; did you mean --results?", helps="hopcast schema"),
    wrong("init mesh extra", "extra: is one argument too many", helps="hopcast init"),
    wrong("view", "DIR is missing", helps="hopcast view"),
    wrong("run s.toml --replications 1e3", "--replications: 1e3 is not a whole number from 1 to 1000000"),
    wrong("run s.toml --replications 99999999999", "--replications: 99999999999 is not a whole number from 1 to 1000000"),
    wrong("run s.toml --threads -1", "--threads: -1 is not a whole number from 1 to 4096"),
    wrong("run s.toml --seed 0x10", "--seed: 0x10 is not a whole number from 0 to 18446744073709551615"),
    Wrong(["run", "s.toml", "--seed", ""], "--seed: '' is not a whole number from 0 to 18446744073709551615"),
    wrong("run s.toml --pcap-node n1", "--pcap-node needs --out, a folder for the captures"),
    wrong("run s.toml --record", "--record needs --out, a folder for the recordings"),
    wrong("run s.toml --out o --pcap-node n9", 'there is no node "n9"; did you mean "n0"?'),
    wrong("sweep sweep.toml --out o --workers 0", "--workers: 0 is not a whole number from 1 to 4096"),
    wrong(
        "sweep sweep.toml --out o --shard 3/2",
        "--shard: 3/2 is not a part of the runs; expected K/N with K from 1 to N, such as 2/8",
    ),
    wrong(
        "sweep sweep.toml --out o --verify 0%",
        "--verify: 0% is not a share above 0% and up to 100%; expected, for example, 1%",
    ),
    wrong("study h99x", "there is no experiment 'h99x'; did you mean H9?"),
    wrong("view cut --seed -1", "--seed: -1 is not a whole number from 0 to 18446744073709551615"),
    wrong("init MESH", 'KIND: "MESH" is no kind of scenario; did you mean "mesh"?'),
    wrong("init --out x.toml", "--out needs a KIND; hopcast init lists the kinds"),
    # --- values of a scenario: units, limits, names
    change("radio.data_rate=54 MB/s", 'radio.data_rate = "54 MB/s": is not a rate: there is no unit "MB/s"; did you mean "Mb/s"?; …'),
    change("duration=inf", 'duration = "inf": is not a time: it does not begin with a number; expected a time such as "10 ms"'),
    change("duration=1e99 s", 'duration = "1e99 s": is too large; expected at least 1 ns and at most 315576000 s'),
    change("duration=-1 s", 'duration = "-1 s": is negative; expected at least 1 ns and at most 315576000 s'),
    change("duration", '"duration" has no "="; expected KEY=VALUE, such as seed=2'),
    change("=3", '"=3" has an empty key; expected KEY=VALUE, such as seed=2'),
    change("nodes.n.count=2.5", "nodes.n.count = 2.5: is not a whole number; expected a whole number from 1 to 10000"),
    change("nodes.n.count=99999", "nodes.n.count = 99999: is too large; expected at least 1 and at most 10000"),
    change("radio.tx_power=20 dB", 'radio.tx_power = "20 dB": is a level, not a power; expected a power such as "15 dBm"'),
    change("radio.channel=400", "radio.channel = 400: is too large; expected at least 1 and at most 200"),
    change("flows.units.to=m1", 'flows.units.to = "m1": there is no node "m1"; did you mean "n1"?; expected one of n0 … n2'),
    change("flows.units.to=n0", 'flows.units.to = "n0": is also the node that the flow starts at; expected another node'),
    change("flows.unit.start=1 s", 'flows.unit.start: flows has no entry "unit"; did you mean "units"?; …'),
    change('radio.channel={ number = 36, wdth = "80 MHz" }', 'radio.channel.wdth = "80 MHz": unknown key; did you mean "width"?'),
    change('radio.errors={ model = "packet", rate = 1.5 }', "radio.errors.rate = 1.5: is too large; expected at least 0 and at most 1"),
    # --- scenarios: files that are none
    wrong("run none.toml", "none.toml: can't be read: No such file or directory"),
    Wrong(["run", ""], "'': can't be read: No such file or directory"),
    wrong("run void", "void: is a folder; expected a file"),
    wrong("run circle.toml", "circle.toml: can't be read: Too many levels of symbolic links"),
    Wrong(["run", "a b\nc.toml"], "SCENARIO.toml: a file name can't hold a line break"),
    wrong("run binary.toml", "binary.toml: is not UTF-8 text: byte 128, in line 2, is wrong"),
    wrong("run latin-1.toml", "latin-1.toml: is not UTF-8 text: byte 28, in line 2, is wrong"),
    wrong("run json.toml", "json.toml:1: not TOML: invalid key-value pair, expected key"),
    wrong("run cut.toml", "cut.toml:14: not TOML: unclosed inline table, expected `}`"),
    wrong("run twice.toml", "twice.toml:2: not TOML: duplicate key"),
    wrong("run sweep.toml", "sweep.toml: is a sweep; `hopcast sweep sweep.toml --out DIR` runs it"),
    wrong("run point.toml", 'point.toml:14: nodes.n.placement.at = [["0 m", "0 m"]]: has 1 position for 3 nodes; expected 3 positions'),
    wrong("run loop.toml", 'loop.toml:13: links.0.between = ["a", "a"]: names one node twice; expected two different nodes'),
    # --- traces: missing, cut, binary, empty
    wrong("run film-cut.toml", "film-cut.toml:21: flows.units.application.file = \"film-cut\": …film-cut, line 2: …"),
    wrong("run film-binary.toml", "film-binary.toml:21: flows.units.application.file = \"binary.toml\": …binary.toml cannot be read: it is not text"),
    wrong("run film-empty.toml", "film-empty.toml:21: flows.units.application.file = \"empty.toml\": …empty.toml: no frames; expected lines of …"),
    wrong("run film-folder.toml", 'film-folder.toml:21: flows.units.application.file = "folder": is a folder; expected a file'),
    wrong("run film-none.toml", 'film-none.toml:21: flows.units.application.file = "none": there is no such trace; expected one in these places: …'),
    wrong("run walk-cut.toml", 'walk-cut.toml:15: nodes.n.mobility.file = "walk-cut": …walk-cut, line 2: the coordinate is missing at the end; …'),
    wrong("run walk-odd.toml", 'walk-odd.toml:15: nodes.n.mobility.file = "walk-odd": …walk-odd, line 1: y is missing at the end; …'),
    wrong("run walk-empty.toml", 'walk-empty.toml:15: nodes.n.mobility.file = "empty.toml": …empty.toml: no nodes; expected lines of …'),
    wrong("run link-negative.toml", "link-negative.toml:15: links.0.trace.file = \"link-negative\": …"),
    wrong("run link-cut.toml", "link-cut.toml:15: links.0.trace.file = \"link-cut\": …"),
    wrong("run link-back.toml", "link-back.toml:15: links.0.trace.file = \"link-back\": …"),
    wrong("run link-column.toml", "link-column.toml:15: links.0.trace.file = \"link-column\": …"),
    wrong("run link-word.toml", "link-word.toml:15: links.0.trace.file = \"link-word\": …"),
    # --- folders for results
    wrong("run s.toml --out text", "text: can't write results there: is a file; expected a folder"),
    wrong("run s.toml --out text/below", "text/below: can't write results there: text is a file; expected a folder"),
    Wrong(["run", "s.toml", "--out", "x" * 300], f"{'x' * 300}: can't write results there: File name too long"),
    wrong("study H1 --out text", "text: can't write results there: is a file; expected a folder"),
    wrong("init mesh --out none/x.toml", "none/x.toml: can't be written: there is no folder none"),
    wrong("init mesh --out void", "void: is already there, and hopcast init replaces nothing; name another file with --out"),
    # --- sweeps
    wrong("sweep s.toml --out o", "s.toml: is a scenario; `hopcast run s.toml` simulates it"),
    wrong("sweep empty.toml --out o", "empty.toml: scenario: expected the name of a scenario file, relative to this file"),
    Wrong(["sweep", "no\nsweep.toml", "--out", "o"], "no\\nsweep.toml: can't be read: No such file or directory"),
    wrong("sweep sweep-unknown.toml --out o", 'sweep-unknown.toml: sead: is unknown; did you mean "seed"?; expected one of …'),
    wrong("sweep sweep-key.toml --out o", 'sweep-key.toml: grid.radio.data_rat = "6 Mb/s": unknown key; did you mean "data_rate"?'),
    wrong("sweep sweep-value.toml --out o", 'sweep-value.toml: grid.duration = "-2 s": is negative; expected at least …'),
    wrong("sweep sweep-nan.toml --out o", "sweep-nan.toml: grid.duration = nan: expected a string, a finite number, a truth value, a list or a table"),
    wrong("sweep sweep-twice.toml --out o", 'sweep-twice.toml: grid.duration = "1 s": is in the list twice; expected different values'),
    wrong("sweep sweep-lengths.toml --out o", "sweep-lengths.toml: zip: the lists need one length; radio.data_rate has 1, duration has 2 values"),
    wrong("sweep sweep-empty-list.toml --out o", "sweep-empty-list.toml: grid.duration = []: expected a list of values, such as [1, 2, 4]"),
    wrong("sweep sweep-method.toml --out o", 'sweep-method.toml: sample.method = "sobl": expected "sobol" or "latin-hypercube"; did you mean "sobol"?'),
    wrong("sweep sweep-negative.toml --out o", "sweep-negative.toml: replications = -3: expected a whole number from 1 to 1000000"),
    wrong("sweep sweep-huge.toml --out o", "sweep-huge.toml: has 1437601 points; expected at most 1000000"),
    wrong("sweep sweep-none.toml --out o", 'sweep-none.toml: scenario = "none.toml": there is no file none.toml'),
    # --- studies and models of users
    wrong("study none.py", "none.py: there is no such file"),
    wrong("study void", "void: is a folder; expected an experiment, or a file of your own, FILE.py"),
    wrong("study syntax.py", "syntax.py:1: SyntaxError: invalid syntax (syntax.py, line 1)"),
    wrong("study nothing.py", "nothing.py: defines no EXPERIMENTS, a list of hopcast.lab.Experiment"),
    wrong("study raises.py", "raises.py:2: ValueError: why"),
    wrong("run s.toml --extension type.py", "type.py: EXTENSIONS is 3; expected a hopcast.Extensions"),
    wrong("run s.toml --extension raises.py", "raises.py:2: ValueError: why"),
    wrong("run s.toml --extension none.py", "none.py: there is no such file"),
    # --- results: report, compare, view
    wrong("report none", "none: there is no such folder"),
    Wrong(["report", "no\nfolder"], "no\\nfolder: there is no such folder"),
    wrong("report text", "text: is a file; expected a folder"),
    wrong("report void", "void: there is neither run.json nor rows.json nor sweep.json; `hopcast run --out`, `hopcast study --out` and `hopcast sweep --out` write them"),
    wrong("report cut", "cut/run.json: is not JSON: Expecting value: line 1 column 12 (char 11)"),
    wrong("report blank", "blank/run.json: is empty; a JSON object is expected"),
    wrong("report binary", "binary/run.json: is not UTF-8 text: byte 0, in line 1, is wrong"),
    wrong("report folder", "folder/run.json: is a folder; expected a file"),
    wrong("report other", "other/run.json: flows is missing: a list is expected"),
    wrong("report nan", "nan/run.json: flows.a.goodput_bps = nan: a finite number, of at most 1e+300, is expected"),
    wrong("report rows", "rows/rows.json: amount is missing: one of quick, full is expected"),
    wrong("report swept", "swept/sweep.json: is not a file that `hopcast sweep` wrote"),
    wrong("compare cut none", "cut/run.json: is not JSON: Expecting value: line 1 column 12 (char 11)"),
    wrong("compare none none", "none: there is no such file or folder"),
    wrong("compare void void", "void: has no run.json; `hopcast run --out` and `hopcast probe send --out` write it"),
    wrong("compare list.json text", "list.json: is not what hopcast writes: an object is expected"),
    wrong("compare names names", "names/run.json: flows.a.name = 'a': a name that no other flow has is expected"),
    wrong("view text", "text: is a file; expected a folder"),
    wrong("view void", "void holds no recording: run the scenario again with --record"),
    wrong("view recorded", "recorded/recording/seed-1/recording.json: has format 99; this hopcast reads format 1"),
    wrong("view recorded-cut", "recorded-cut/recording/seed-1/recording.json: is not the description of a recording"),
    # --- emulation
    wrong("emulate none.toml", "none.toml: can't be read: No such file or directory"),
    wrong("emulate void", "void: is a folder; expected a file"),
    wrong("emulate /dev/zero", "/dev/zero: is a pipe, a device or a socket; expected a file"),
    wrong("emulate binary.toml", "binary.toml: is not UTF-8 text: byte 128, in line 2, is wrong"),
    Wrong(["emulate", "a b\nc.toml"], 'a b\\nc.toml:8: radio.data_rat = "54 Mb/s": unknown key; did you mean "data_rate"?'),
    wrong("emulate s.toml", "s.toml: no node is real; at least one needs real = true"),
    wrong("emulate real.toml --exec n9 true", 'no real node is called "n9"; there are n0, n1, n2'),
    Wrong(["emulate", "real.toml", "--exec", "n0", ""], "node n0: a command is missing"),
    wrong("emulate real.toml --exec n0 nosuchprogram --out o/p", 'node n0: `nosuchprogram`: the command "nosuchprogram" is not found'),
    wrong("emulate real.toml --out text", "text: can't write results there: is a file; expected a folder"),
    wrong("emulate real.toml --pcap-addressed", "--pcap-addressed needs --out, a folder for the captures"),
    wrong("emulate real.toml --events", "--events needs --out, a folder for the recording"),
    wrong("emulate real.toml --pcap-node n9 --out o", 'there is no node "n9"; did you mean "n0"?'),
    wrong("emulate real.toml --seed 1.5", "--seed: 1.5 is not a whole number"),
    wrong("emulate real.toml --metrics 0.0.0.0:99", "--metrics 0.0.0.0:99: metrics are given on a loopback address only, such as 127.0.0.1"),
    wrong("emulate real.toml --replay text", "text: is no recording: line 1: expected value at line 1 column 1"),
    wrong("emulate real.toml --clean", "--clean excludes all other options"),
    # --- real hosts: router, key, streams, probe, cloud
    wrong("node", "--interface is missing", helps="hopcast node"),
    wrong("node --interface nope0", "there is no interface nope0; …"),
    Wrong(["node", "--interface", ""], "--interface: a name is missing"),
    wrong("node --interface lo --protocol aodvv", '--protocol aodvv: there is no such routing protocol; there are "aodv", "dsdv", "olsr"'),
    wrong("node --interface lo --network 10.0.0.0/33", "--network 10.0.0.0/33: a prefix has at most 32 bits"),
    wrong("node --interface lo --key none", "key file none: there is no such file; `hopcast key none` makes one"),
    wrong("node --interface lo --key void", "key file void: is a folder; expected a file"),
    wrong("node --interface lo --key key", "key file key: it has 63 characters; a key is 64 hexadecimal digits, as `hopcast key` writes them"),
    wrong("node --interface lo --key letters-key", "key file letters-key: character 64 is no such digit; a key is 64 hexadecimal digits, as `hopcast key` writes them"),
    wrong("node --interface lo --key open-key", "key file open-key: mode 644 lets others read it; chmod 600 makes it the owner's alone"),
    wrong("node --interface lo --key sound-key --identity none", "identity none: there is no such file; `hopcast key --identity none` makes one"),
    wrong("node --interface lo --key sound-key --identity sound-key", "identity sound-key: it has no identity; `hopcast key --identity FILE` makes one"),
    wrong("node --interface lo --key sound-key --identity identity-key --members none", "list of members none: there is no such file; each line has a public key, …"),
    wrong("node --interface lo --key sound-key --identity identity-key --members text", "list of members text: line 1: it has … characters; each line has a public key, …"),
    wrong("node --interface lo status", "--interface and the command status exclude each other"),
    wrong("key --identity text", "identity text: is already there; hopcast key overwrites nothing"),
    wrong("key none/key", "key file none/key: there is no folder none"),
    wrong("key text", "key file text: is already there; hopcast key overwrites nothing"),
    Wrong(["stream", "send", *TO, "--input", "none"], "--input none: No such file or directory"),
    Wrong(["stream", "send", *TO, "--input", "void"], "--input void: it is a folder"),
    Wrong(["stream", "send", *TO, "--input", "nothing"], "--input nothing: it is no MPEG transport stream: 0 bytes, a packet has 188"),
    wrong("stream send --to 127.0.0.1:99999", "--to: 127.0.0.1:99999: a port is at most 65535"),
    Wrong(["stream", "send", *TO, "--fec", "300+4"], "--fec 300+4: at least one of each is wanted, such as 20+4, and 255 in all at the most"),
    wrong("stream receive --output o --playout -1s", "--playout -1s: …"),
    wrong("stream receive --variant rpt", "--variant: rpt is not one of adtfrc, tfrc, udp, rtp"),
    wrong("probe rely", "there is no command rely; did you mean relay?", helps="hopcast probe"),
    wrong("probe send --to 10.0.0.1:0", '--via and --to: "10.0.0.1:0" is no HOST[:PORT], with a port from 1 to 65535'),
    wrong("probe send --to 10.0.0.1 --size 1km", '--size 1km: is a length, not a size; expected a size such as "1000 B"'),
    wrong("probe send --to 10.0.0.1 --wait -1ms", "--wait: -0.001 s is no wait; expected 0 s to 60 s"),
    wrong("probe send --to 10.0.0.1 --bytes 1e99B", "--bytes: 1e99 is too large; expected at most 9.007199254740992e15"),
    wrong("probe send --plan void", "void: is a folder; expected a file"),
    wrong("probe send --plan plan-cut.toml", "plan-cut.toml:1: unclosed table, expected `]`"),
    wrong("probe send --plan empty.toml", "empty.toml:1: missing field `hosts`"),
    wrong("probe send --to 10.0.0.1 --out text", "text: can't write results there: is a file; expected a folder"),
    wrong("cloud serve --interface lo --open --link-rate -5Mb/s", "--link-rate -5Mb/s: …"),
    wrong("cloud play", "CLIP is missing", helps="hopcast cloud play"),
    wrong("cloud status", "no device runs on this host: start one with `hopcast cloud serve --interface NAME --key FILE`", 1),
]  # fmt: skip


def test_no_input_is_there_twice() -> None:
    typed = [tuple(case.typed) for case in INPUTS]
    assert len(set(typed)) == len(typed) > 100
    named = {words[0] for words in typed}
    assert named >= {"run", "study", "sweep", "view", "report", "compare", "emulate", "node", "probe", "stream", "cloud", "key", "init", "schema"}  # fmt: skip


def alone(case: Wrong) -> list[pytest.MarkDecorator]:
    """Of two routers that start at once in one network namespace, the second says that the first is there."""
    return [pytest.mark.xdist_group("network")] if case.typed[0] == "node" else []


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=alone(case)) for case in INPUTS],
    ids=lambda case: repr(" ".join(case.typed))[1:60],
)
def test_a_wrong_input_is_told_in_a_line_and_leaves_nothing(hopcast: Hopcast, place: Path, case: Wrong) -> None:
    if case.is_live and not ON_LINUX:
        pytest.skip("live commands need Linux")
    before = contents(place)
    done = hopcast(*case.typed, cwd=place, stdin=subprocess.DEVNULL)
    assert re.fullmatch(case.pattern(), done.stderr), done.stderr
    assert (done.returncode, done.stdout) == (case.status, "")
    assert contents(place) == before


DENIED = [
    wrong("run locked.toml", "locked.toml: can't be read: Permission denied"),
    wrong(
        "run film-locked.toml", 'film-locked.toml:21: flows.units.application.file = "locked.toml": …Permission denied'
    ),
    wrong("run s.toml --out shut/o", "shut/o: can't write results there: Permission denied"),
    wrong("sweep locked.toml --out o", "locked.toml: can't be read: Permission denied"),
    wrong("report locked", "locked/run.json: can't be read: Permission denied"),
    wrong("init mesh --out shut/mesh.toml", "shut/mesh.toml: can't be written: Permission denied"),
    wrong("emulate locked.toml", "locked.toml: can't be read: Permission denied"),
    wrong("emulate real.toml --exec n0 true --out shut/o", "shut/o: can't write results there: Permission denied"),
    wrong("key shut/key", "key file shut/key: Permission denied"),
    wrong("node --interface lo --key locked.toml", "key file locked.toml: Permission denied"),
    wrong("stream send --to 127.0.0.1:9 --input locked.toml", "--input locked.toml: Permission denied"),
    wrong("probe send --plan locked.toml", "locked.toml: can't be read: Permission denied"),
]


@pytest.mark.parametrize("case", DENIED, ids=lambda case: " ".join(case.typed))
def test_what_the_user_may_not_read_or_write_is_told(case: Wrong) -> None:
    skip_unless_possible()
    with TemporaryDirectory() as name:
        folder = fill(Path(name))
        (folder / "film-locked.toml").write_text(film("locked.toml"))
        (folder / "locked.toml").write_text(TOML)
        (folder / "locked.toml").chmod(0)
        (folder / "locked").mkdir()
        (folder / "locked" / "run.json").write_text("{}")
        (folder / "locked" / "run.json").chmod(0)
        (folder / "shut").mkdir(mode=0o555)
        for closed in closed_folders(folder):
            closed.chmod(0o755)
        before = contents(folder)
        done = as_ordinary_user(command(*case.typed), cwd=folder)
        # Matplotlib tells that this user has no folder for its cache.
        told = re.sub(r"^(mkdir -p failed|Matplotlib) .*\n", "", done.stderr, flags=re.MULTILINE)
        assert re.fullmatch(case.pattern(), told), told
        assert (done.returncode, done.stdout) == (case.status, "")
        assert contents(folder) == before
