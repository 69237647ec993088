"""Closed formulas to check a simulation against: capacity of a saturated 802.11 link and cell, and fairness.

The timing constants below repeat those of the simulator, taken separately from IEEE 802.11-2020, so that a mistake in
one of the two shows as a difference. Rates are in bit/s, sizes in bytes, times in seconds unless a name says
otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

__all__ = [
    "Saturation",
    "airtime",
    "bianchi",
    "fixed_point",
    "jain",
    "saturated_link_cycle",
    "saturated_link_goodput",
]

Standard = Literal["802.11", "802.11b", "802.11a", "802.11g"]


@dataclass(frozen=True)
class _Timing:
    """Times in microseconds."""

    slot: int
    sifs: int
    cw_min: int
    cw_max: int
    signal_extension: int = 0

    @property
    def difs(self) -> int:
        """10.3.2.3.5."""
        return self.sifs + 2 * self.slot


# Tables 15-5, 16-4, 17-21 and 18-5; the signal extension is 10.3.8.
_TIMINGS: dict[str, _Timing] = {
    "802.11": _Timing(slot=20, sifs=10, cw_min=31, cw_max=1023),
    "802.11b": _Timing(slot=20, sifs=10, cw_min=31, cw_max=1023),
    "802.11a": _Timing(slot=9, sifs=16, cw_min=15, cw_max=1023),
    "802.11g": _Timing(slot=9, sifs=10, cw_min=15, cw_max=1023, signal_extension=6),
}
# 18.5.4: an 802.11g network whose data keep to the rates of 802.11b has the long slot and the larger window.
_ERP_DSSS = _Timing(slot=20, sifs=10, cw_min=31, cw_max=1023)

# Microseconds an octet (clauses 15 and 16), and data bits a symbol of 4 µs (Table 17-4), by rate.
_DSSS_MICROS_PER_OCTET = {1e6: 8.0, 2e6: 4.0, 5.5e6: 16 / 11, 11e6: 8 / 11}
_OFDM_BITS_PER_SYMBOL = {6e6: 24, 9e6: 36, 12e6: 48, 18e6: 72, 24e6: 96, 36e6: 144, 48e6: 192, 54e6: 216}
_RATES: dict[str, set[float]] = {
    "802.11": {1e6, 2e6},
    "802.11b": set(_DSSS_MICROS_PER_OCTET),
    "802.11a": set(_OFDM_BITS_PER_SYMBOL),
    "802.11g": set(_DSSS_MICROS_PER_OCTET) | set(_OFDM_BITS_PER_SYMBOL),
}
# The rates that control responses use, highest first.
_DSSS_BASIC = (2e6, 1e6)
_OFDM_BASIC = (24e6, 12e6, 6e6)

# Preamble and header in microseconds: 15.2.2, 16.2.2.3, Table 17-5.
_LONG_PREAMBLE = 192
_SHORT_PREAMBLE = 96
_OFDM_PREAMBLE = 20

# Octets with FCS: 9.3.1.2 to 9.3.1.4, 9.3.2.1; LLC and SNAP (RFC 1042), IPv4 (RFC 791), UDP (RFC 768).
_RTS = 20
_CTS = 14
_ACK = 14
_MAC_HEADER = 24
_FCS = 4
_LLC_SNAP = 8
_IP_HEADER = 20
_UDP_HEADER = 8


def airtime(standard: Standard, rate: float, octets: int, *, short_preamble: bool = False) -> float:
    """Seconds for which a frame of `octets` bytes, FCS included, occupies the medium (TXTIME).

    IEEE 802.11-2020, 16.3.4 for DSSS and HR/DSSS, equation 17-29 for OFDM, 18.5.3 for ERP (with its signal extension).
    A short preamble precedes rates of 2 Mb/s and more under 802.11b and 802.11g.
    """
    return _airtime_us(standard, rate, octets, short_preamble) * 1e-6


def saturated_link_cycle(
    standard: Standard,
    data_rate: float,
    basic_rate: float | None = None,
    *,
    payload: int = 1472,
    rts: bool = False,
    short_preamble: bool = False,
    mtu: int | None = 1500,
) -> float:
    """Mean seconds from one UDP datagram to the next on a saturated link without contention.

    DIFS, on average CWmin/2 slots of backoff (10.3.4.3), the data frame, SIFS and the ACK; with `rts` before it RTS,
    SIFS, CTS, SIFS. A datagram longer than `mtu` is several IP fragments (RFC 791, section 3.2), each with a separate
    exchange; `mtu=None` never fragments. `basic_rate` is that of RTS, CTS and ACK, by default the highest of 1 and 2
    Mb/s (DSSS) or 6, 12 and 24 Mb/s (OFDM) not above `data_rate`. Propagation takes no time.
    """
    timing = _timing(standard, data_rate)
    control = _control_rate(standard, data_rate, basic_rate)
    cycle = 0.0
    for mpdu in _mpdus(payload, mtu):
        exchange = _exchange_us(standard, data_rate, control, mpdu, rts, short_preamble)
        cycle += timing.difs + timing.slot * timing.cw_min / 2 + exchange
    return cycle * 1e-6


def saturated_link_goodput(
    standard: Standard,
    data_rate: float,
    basic_rate: float | None = None,
    *,
    payload: int = 1472,
    rts: bool = False,
    short_preamble: bool = False,
    mtu: int | None = 1500,
) -> float:
    """UDP payload in bit/s over a saturated link without contention; see `saturated_link_cycle`."""
    cycle = saturated_link_cycle(
        standard, data_rate, basic_rate, payload=payload, rts=rts, short_preamble=short_preamble, mtu=mtu
    )
    return 8 * payload / cycle


@dataclass(frozen=True)
class Saturation:
    """Solution for a saturated cell in which every station hears every other."""

    collision_probability: float
    """p: probability that a transmission collides."""
    transmission_probability: float
    """tau: probability that a station transmits in a slot."""
    goodput: float
    """UDP payload of all stations together, in bit/s."""


def bianchi(
    n: int,
    standard: Standard,
    data_rate: float,
    basic_rate: float | None = None,
    *,
    payload: int = 1472,
    rts: bool = False,
    short_preamble: bool = False,
    after_collision: Literal["difs", "eifs", "eifs+difs"] = "difs",
    retry_limit: int | None = None,
    reserved_slot: bool = False,
    propagation_delay: float = 0.0,
) -> Saturation:
    """Capacity of a cell of `n` saturated stations that hear each other.

    G. Bianchi, "Performance Analysis of the IEEE 802.11 Distributed Coordination Function", IEEE JSAC 18(3), 2000,
    equations 7 and 9 to 13, with the paper's T_s and T_c of basic access, or of RTS/CTS with `rts`. Collisions are
    the only cause of loss.

    * `after_collision`: the wait after a collision before the backoff continues. `"difs"` is the paper's choice;
      `"eifs"` (802.11-2020, 10.3.2.3.7) is the wait of stations that overhear a collision, and `"eifs+difs"` their
      wait in ns-2.35.
    * `retry_limit`: number of attempts at a frame, as in H. Wu et al., "Performance of Reliable Transport Protocol
      over IEEE 802.11 Wireless LAN", INFOCOM 2002; with `None` stations try for ever, as in Bianchi's paper.
    * `reserved_slot`: the slot after a success belongs to the station that succeeded, since all others found their
      counters above zero when they froze. A successful slot then holds 1/(1 - B) frames and one slot more, with
      B = 1/(CWmin + 1): I. Tinnirello, G. Bianchi, Y. Xiao, "Refinements on IEEE 802.11 Distributed Coordination
      Function Modeling Approaches", IEEE Trans. Veh. Technol. 59(3), 2010.
    * `propagation_delay` in seconds, after each frame.

    Raises an error for payloads that IP would fragment: the model has one frame length.
    """
    timing = _timing(standard, data_rate)
    control = _control_rate(standard, data_rate, basic_rate)
    mpdus = _mpdus(payload, 1500)
    if len(mpdus) > 1:
        raise ValueError(f"payload={payload} is several frames; the model needs one, so at most 1472 B")

    stages = round(math.log2((timing.cw_max + 1) / (timing.cw_min + 1)))
    p, tau = fixed_point(n, timing.cw_min + 1, stages, retry_limit)

    delay = propagation_delay * 1e6
    success = timing.difs + _exchange_us(standard, data_rate, control, mpdus[0], rts, short_preamble)
    success += (4 if rts else 2) * delay
    # What collides is the first frame of the exchange.
    first_rate, first_octets = (control, _RTS) if rts else (data_rate, mpdus[0])
    eifs = _eifs_us(standard, timing, first_rate)
    waits: dict[str, float] = {"difs": timing.difs, "eifs": eifs, "eifs+difs": eifs + timing.difs}
    if after_collision not in waits:
        raise ValueError(f"after_collision={after_collision!r}; it is one of {', '.join(map(repr, waits))}")
    collision = _airtime_us(standard, first_rate, first_octets, short_preamble) + delay + waits[after_collision]

    delivered = 8.0 * payload
    if reserved_slot:
        frames = 1 + 1 / timing.cw_min
        delivered *= frames
        success = success * frames + timing.slot

    some = 1 - (1 - tau) ** n  # equation 10, P_tr
    one = n * tau * (1 - tau) ** (n - 1)  # P_tr times P_s of equation 11
    mean_slot = (1 - some) * timing.slot + one * success + (some - one) * collision
    return Saturation(p, tau, one * delivered / (mean_slot * 1e-6))  # equation 13


def fixed_point(n: int, window: int, stages: int, retry_limit: int | None = None) -> tuple[float, float]:
    """Collision and transmission probability (p, tau) of `n` saturated stations.

    `window` is W: the first backoff is drawn from 0 … W - 1, and W doubles `stages` times (m). Equations 7 and 9 of
    Bianchi (2000); with `retry_limit` attempts, tau is the number of attempts at a frame divided by the slots that it
    takes, which is the result of the chain of Wu et al. (2002).
    """
    if n < 1 or window < 1 or stages < 0 or (retry_limit is not None and retry_limit < 1):
        raise ValueError(f"n={n}, window={window}, stages={stages}, retry_limit={retry_limit}: at least 1, 1, 0 and 1")

    def tau_of(p: float) -> float:
        if retry_limit is None:
            # Equation 7, divided by 1 - 2p so that p = 1/2 is a case like any other.
            return 2 / (1 + window + p * window * sum((2 * p) ** k for k in range(stages)))
        attempts = sum(p**k for k in range(retry_limit))
        slots = sum(p**k * ((window << min(k, stages)) + 1) / 2 for k in range(retry_limit))
        return attempts / slots

    # 1 - (1 - tau(p))^(n - 1) does not rise with p, so that it crosses p once.
    low, high = 0.0, 1.0
    for _ in range(100):
        p = (low + high) / 2
        if 1 - (1 - tau_of(p)) ** (n - 1) > p:
            low = p
        else:
            high = p
    p = (low + high) / 2 if n > 1 else 0.0
    return p, tau_of(p)


def jain(values: Iterable[float]) -> float:
    """Jain's fairness index of non-negative shares: from 1/n if one has all, to 1 if all have the same; nan if all
    are zero.

    R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of Fairness and Discrimination for Resource Allocation in Shared
    Computer Systems", DEC-TR-301, 1984.
    """
    shares = list(values)
    if not shares or min(shares) < 0:
        raise ValueError("fairness needs one share or more, none negative")
    largest = max(shares)
    if largest == 0:
        return math.nan
    scaled = [share / largest for share in shares]
    return math.fsum(scaled) ** 2 / (len(scaled) * math.fsum(share * share for share in scaled))


def _timing(standard: Standard, data_rate: float) -> _Timing:
    if standard not in _TIMINGS:
        raise ValueError(f"standard={standard!r}; it is one of {', '.join(_TIMINGS)}")
    if data_rate not in _RATES[standard]:
        rates = ", ".join(f"{rate / 1e6:g}" for rate in sorted(_RATES[standard]))
        raise ValueError(f"rate={data_rate!r}; {standard} has {rates} Mb/s, given in bit/s")
    if standard == "802.11g" and data_rate in _DSSS_MICROS_PER_OCTET:
        return _ERP_DSSS
    return _TIMINGS[standard]


def _control_rate(standard: Standard, data_rate: float, basic_rate: float | None) -> float:
    if basic_rate is not None:
        _timing(standard, basic_rate)
        return basic_rate
    basic = _DSSS_BASIC if data_rate in _DSSS_MICROS_PER_OCTET else _OFDM_BASIC
    return next((rate for rate in basic if rate <= data_rate), basic[-1])


def _mpdus(payload: int, mtu: int | None) -> list[int]:
    """Bytes of the data frames that carry one UDP datagram."""
    if payload < 0 or (mtu is not None and mtu < _IP_HEADER + 8):
        raise ValueError(f"payload={payload}, mtu={mtu}: a payload is not negative, an MTU at least 28 B")
    datagram = _UDP_HEADER + payload
    if mtu is None or _IP_HEADER + datagram <= mtu:
        parts = [datagram]
    else:
        # All fragments but the last carry a multiple of 8 octets.
        size = (mtu - _IP_HEADER) // 8 * 8
        parts = [min(size, datagram - start) for start in range(0, datagram, size)]
    return [_MAC_HEADER + _LLC_SNAP + _IP_HEADER + part + _FCS for part in parts]


def _exchange_us(
    standard: Standard, data_rate: float, control: float, mpdu: int, rts: bool, short_preamble: bool
) -> float:
    """Time from the first frame to the end of the ACK, in microseconds."""
    sifs = _timing(standard, data_rate).sifs
    exchange = _airtime_us(standard, data_rate, mpdu, short_preamble)
    exchange += sifs + _airtime_us(standard, control, _ACK, short_preamble)
    if rts:
        exchange += _airtime_us(standard, control, _RTS, short_preamble) + sifs
        exchange += _airtime_us(standard, control, _CTS, short_preamble) + sifs
    return exchange


def _eifs_us(standard: Standard, timing: _Timing, failed_rate: float) -> float:
    """EIFS of 10.3.2.3.7, with the ACK at the lowest mandatory rate of the modulation that failed."""
    lowest = 1e6 if failed_rate in _DSSS_MICROS_PER_OCTET else 6e6
    return timing.sifs + _airtime_us(standard, lowest, _ACK, False) + timing.difs


def _airtime_us(standard: Standard, rate: float, octets: int, short_preamble: bool) -> float:
    _timing(standard, rate)
    if rate in _DSSS_MICROS_PER_OCTET:
        short = short_preamble and rate > 1e6 and standard != "802.11"
        preamble = _SHORT_PREAMBLE if short else _LONG_PREAMBLE
        # The products with 16/11 and 8/11 are never closer than 1/11 to a whole number that they do not equal.
        return preamble + math.ceil(round(octets * _DSSS_MICROS_PER_OCTET[rate], 6))
    symbols = math.ceil((16 + 8 * octets + 6) / _OFDM_BITS_PER_SYMBOL[rate])
    return _OFDM_PREAMBLE + 4 * symbols + _TIMINGS[standard].signal_extension
