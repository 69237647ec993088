"""ns-2 at the time of papers M and P; the profile `ns-2` is a later version.

Paper M was received in October 2002 and revised in April 2003; the latest work that paper P cites is of 2002.
"""

from __future__ import annotations

from hopcast.lab.experiment import Parameter

MIN_RTO = "1 s"
"""ns-2's `minrto_` until 2004/10/14, when its default became 0.2 s: its test suites, which keep the defaults of
ns-2.1b9 (May 2002), set 1 s with a comment with that day (`tcl/test/test-suite-sack.tcl` and others of ns-2.35), and
`tcp.cc` and `ns-default.tcl` have a similar comment. RFC 2988 and RFC 6298 (section 2.4) also have 1 s.
"""
LATER_MIN_RTO = "0.2 s"
"""ns-2's `minrto_` since then, and that of the profile."""
LEAST_RTO = Parameter(
    "TCP's timeout",
    f"{MIN_RTO} at least, and {MIN_RTO} before a round trip is known",
    "ns-2's `minrto_` until 2004/10/14 (0.2 s since), and RFC 2988; the first by RFC 6298, section 2.1",
)
"""Text for the parameters of an experiment with TCP."""
