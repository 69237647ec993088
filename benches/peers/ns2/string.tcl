# A string of eight nodes, 200 m apart, with one bulk TCP NewReno flow from the first one over `hops` hops. AODV, because
# ns-2 has no static routes for mobile nodes.
source [file join [file dirname [info script]] common.tcl]
array set opt {nodes 8 hops 7 spacing 200}
read_options

set topology [start_simulator [expr {$opt(nodes) * $opt(spacing) + 1}] $opt(nodes)]
configure_dsss $opt(rts)
set positions {}
for {set i 0} {$i < $opt(nodes)} {incr i} {
    lappend positions [list [expr {$i * $opt(spacing)}] 1]
}
set nodes [make_nodes $topology AODV Mac/802_11 Phy/WirelessPhy Propagation/TwoRayGround $positions]
set sink [add_tcp_flow [lindex $nodes 0] [lindex $nodes $opt(hops)]]

proc goodput {} {
    global opt sink
    return [list [expr {8.0 * [tcp_payload $sink] / ($opt(stop) - $opt(start))}]]
}
run_and_report goodput
