"""Two stations that don't hear each other send to a third one between them: does RTS/CTS help?"""

from hopcast import Scenario
from hopcast.figures import Line, lines
from hopcast.lab import Case, Experiment, Parameter, claim, value

SIZES, MODES = (100, 400, 1400), {"RTS": "0 B", "no RTS": "off"}


def setup(amount):
    return [Parameter("load", "600 kb/s from each station", "together more than half of what 2 Mb/s carry")]


def cases(amount):
    seeds, made = tuple(range(amount.pick(quick=6, full=20))), {}
    nodes = [{"name": "n", "count": 3, "placement": {"shape": "line", "spacing": "200 m"}}]
    hearing = {"model": "range", "receive": "250 m", "carrier_sense": "250 m"}
    for size, mode in ((size, mode) for size in SIZES for mode in MODES):
        radio = {"standard": "802.11", "rts_threshold": MODES[mode], "propagation": hearing}
        flow = {"transport": {"protocol": "udp"}, "application": {"kind": "cbr", "rate": "600 kb/s", "packet": size}}
        flows = [{"name": source, "from": source, "to": "n1", **flow} for source in ("n0", "n2")]
        made[f"{size} B, {mode}"] = Case(Scenario(duration="10 s", radio=radio, nodes=nodes, flows=flows), seeds)
    return made


def rows(measured):
    rate = {case: measured.flow(case, "n0", "goodput_bps") for case in measured.documents}
    gain = {size: rate[f"{size} B, RTS"] - rate[f"{size} B, no RTS"] for size in SIZES}
    claims = [claim("HIDDEN", f"{size} B, RTS − no RTS", "goodput", "b/s", gain[size], low=0.0) for size in SIZES]
    return claims + [value("HIDDEN", case, "goodput", "b/s", sample) for case, sample in rate.items()]


def figures(table):
    drawn = [Line(mode, [(size, table[f"{size} B, {mode}", "goodput"]) for size in SIZES]) for mode in MODES]
    return [("Goodput of one of the two", lines(drawn, x="packet, B", y="goodput, Mb/s", factor=1e-6))]


EXPERIMENTS = [Experiment("HIDDEN", "Hidden terminals", __doc__, setup, cases, rows, figures)]
