# An 802.11a cell: `stations` senders evenly around one sink, their queues never empty. Mac/802_11 with the timing of
# 802.11a; it knows no OFDM symbols, so that a frame's length is not rounded up to them. (Mac/802_11Ext does, but its
# unicast data stay at 6 Mb/s.)
#
# Each station is offered half more than its share of the channel, which keeps its queue of 50 full without drowning the
# run in drops. Packets are 30 B longer than the payload, so that with the MAC header of 34 B the MPDU has 1536 B, as with
# UDP, IP, LLC/SNAP and the standard's header.
source [file join [file dirname [info script]] common.tcl]
array unset opt
array set opt {seed 1 count 0 start 1 stop 11 stations 10 radius 1.0 payload 1472}
read_options

configure_ofdm 7 4
set packet [expr {$opt(payload) + 30}]

set positions {{2 2}}
for {set i 0} {$i < $opt(stations)} {incr i} {
    set angle [expr {2 * acos(-1) * $i / $opt(stations)}]
    lappend positions [list [expr {2 + $opt(radius) * cos($angle)}] [expr {2 + $opt(radius) * sin($angle)}]]
}
set topology [start_simulator 5 [llength $positions]]
# One hop and no routing: the dumb agent hands a packet to the link layer as it is, without adding a header.
set nodes [make_nodes $topology DumbAgent Mac/802_11 Phy/WirelessPhy Propagation/TwoRayGround $positions]

set share [expr {1.5 * 30e6 / $opt(stations)}]
set offset [new RandomVariable/Uniform]
$offset set min_ 0
$offset set max_ 0.01
set sinks {}
foreach node [lrange $nodes 1 end] {
    set udp [new Agent/UDP]
    $udp set packetSize_ $packet
    set sink [new Agent/LossMonitor]
    $ns attach-agent $node $udp
    $ns attach-agent [lindex $nodes 0] $sink
    $ns connect $udp $sink
    set source [new Application/Traffic/CBR]
    $source set packetSize_ $packet
    $source set rate_ [expr {$share * $packet / $opt(payload)}]
    $source attach-agent $udp
    $ns at [$offset value] "$source start"
    lappend sinks $sink
}

set arrived_before {}
proc mark {} {
    global sinks arrived_before
    foreach sink $sinks {
        lappend arrived_before [$sink set npkts_]
    }
}
$ns at $opt(start) mark

proc goodput {} {
    global opt sinks arrived_before
    set flows {}
    foreach sink $sinks before $arrived_before {
        lappend flows [expr {8.0 * $opt(payload) * ([$sink set npkts_] - $before) / ($opt(stop) - $opt(start))}]
    }
    return $flows
}
run_and_report goodput
