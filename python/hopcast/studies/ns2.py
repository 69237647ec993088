"""ns-2 as it was when papers M and P ran on it, where the profile `ns-2` is that of a later one.

Paper M was received in October 2002 and revised in April 2003; of what paper P cites the latest is of 2002.
"""

from __future__ import annotations

from hopcast.studies.experiment import Parameter

MIN_RTO = "1 s"
"""ns-2's `minrto_` until 2004/10/14, when its default became 0.2 s: its test suites, which keep the defaults of ns-2.1b9 (May 2002), set
1 s beside a comment with that day (`tcl/test/test-suite-sack.tcl` and others of ns-2.35), as `tcp.cc` and `ns-default.tcl` have one. RFC 2988 and
RFC 6298 (section 2.4) have 1 s, too."""
LATER_MIN_RTO = "0.2 s"
"""The same since then, and under the profile."""
LEAST_RTO = Parameter(
    "TCP's timeout",
    f"{MIN_RTO} at least, and {MIN_RTO} before a round trip is known",
    "ns-2's `minrto_` until 2004/10/14 (0.2 s since), and RFC 2988; the first by RFC 6298, section 2.1",
)
"""For the parameters of an experiment with TCP."""
