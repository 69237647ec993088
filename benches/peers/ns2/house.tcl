# A house: an access point with four stations under shadowing that is drawn for each frame, and two wired hosts in a row behind
# it. An even UDP flow and a bulk TCP download from outside, a game in both directions. Mac/802_11 with the timing of 802.11g.
#
# ns-2 has no infrastructure mode for this MAC: the access point is a base station, to which DSDV leads. It decides by a threshold,
# which stands here 22 dB above the noise in 20 MHz with a noise figure of 7 dB.
source [file join [file dirname [info script]] common.tcl]
array set opt {start 20 stop 120 window 44 segment 1460 iw 3 min_rto 1 delack 0.2 limited_transmit 0 radius 5}
read_options

configure_ofdm 4 4
Phy/WirelessPhy set Pt_ 0.1
Phy/WirelessPhy set freq_ 2.437e9
Phy/WirelessPhy set L_ 1.0
Phy/WirelessPhy set RXThresh_ 6.3e-11
Phy/WirelessPhy set CSThresh_ 6.3e-12
Phy/WirelessPhy set CPThresh_ 10.0
Propagation/Shadowing set pathlossExp_ 4.0
Propagation/Shadowing set std_db_ 9.0
Propagation/Shadowing set dist0_ 1.0

set topology [start_simulator 100 5]
$ns node-config -addressType hierarchical
AddrParams set domain_num_ 2
AddrParams set cluster_num_ {1 1}
AddrParams set nodes_num_ {2 5}
set w0 [$ns node 0.0.0]
set w1 [$ns node 0.0.1]
configure_nodes $topology DSDV Mac/802_11 Phy/WirelessPhy Propagation/Shadowing
$ns node-config -wiredRouting ON
set ap [make_node {50 50} 1.0.0]
$ns node-config -wiredRouting OFF
for {set i 0} {$i < 4} {incr i} {
    set angle [expr {2 * acos(-1) * $i / 4}]
    set x [expr {50 + $opt(radius) * cos($angle)}]
    set y [expr {50 + $opt(radius) * sin($angle)}]
    set sta($i) [make_node [list $x $y] 1.0.[expr {$i + 1}]]
    $sta($i) base-station [AddrParams addr2id [$ap node-addr]]
}
foreach {a b delay} [list $ap $w0 10ms $w0 $w1 30ms] {
    $ns duplex-link $a $b 100Mb $delay DropTail
    $ns queue-limit $a $b 140
    $ns queue-limit $b $a 140
}

# UDP, IP and LLC/SNAP have 36 B, and the MAC header has 6 B too much: 30 B more than the payload.
set even [list [add_even_flow $w0 $sta(0) 1030 0.008 $opt(start)] [add_even_flow $w0 $sta(1) 130 0.04 $opt(start)] \
    [add_even_flow $sta(1) $w0 130 0.04 $opt(start)]]
set download [add_tcp_flow $w1 $sta(3)]

proc goodput {} {
    global opt even download
    set seconds [expr {$opt(stop) - $opt(start)}]
    set flows {}
    foreach sink $even payload {1000 100 100} {
        lappend flows [expr {8.0 * $payload * [$sink set npkts_] / $seconds}]
    }
    lappend flows [expr {8.0 * [tcp_payload $download] / $seconds}]
    return $flows
}
run_and_report goodput
