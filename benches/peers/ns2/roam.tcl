# Nodes that roam, over AODV, with flows of 512 B at 4 packets/s, as the folder `scene` says (roam.py writes it).
#
# AODV adds the IP header of 20 B, and the MAC header has 6 B too much: 10 B more than the payload make the MPDU as long as
# one with UDP, IP, LLC/SNAP and the standard's header.
source [file join [file dirname [info script]] common.tcl]
array set opt {scene "" nodes 100 rts 1 payload 512 interval 0.25}
read_options
set packet [expr {$opt(payload) + 10}]

set topology [start_simulator [expr {100 * sqrt($opt(nodes)) + 1}] $opt(nodes)]
configure_dsss $opt(rts)
set nodes [make_nodes $topology AODV Mac/802_11 Phy/WirelessPhy Propagation/TwoRayGround \
    [lrepeat $opt(nodes) {1 1}]]
# The names that a file of movement knows.
set ns_ $ns
for {set i 0} {$i < $opt(nodes)} {incr i} {
    set node_($i) [lindex $nodes $i]
}
source [file join $opt(scene) movement.tcl]

set sinks {}
set file [open [file join $opt(scene) flows.txt]]
foreach {from to start} [read $file] {
    set sink [add_even_flow [lindex $nodes $from] [lindex $nodes $to] $packet $opt(interval) $start]
    lappend sinks $sink $start
}
close $file

proc goodput {} {
    global opt sinks
    set flows {}
    foreach {sink start} $sinks {
        lappend flows [expr {8.0 * $opt(payload) * [$sink set npkts_] / ($opt(stop) - $start)}]
    }
    return $flows
}
run_and_report goodput
