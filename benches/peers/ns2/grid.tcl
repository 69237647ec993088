# A square grid, 200 m apart, with one bulk TCP NewReno flow down every column, over AODV.
source [file join [file dirname [info script]] common.tcl]
array set opt {side 6 spacing 200 window 8 rts 1}
read_options

set count [expr {$opt(side) * $opt(side)}]
set topology [start_simulator [expr {$opt(side) * $opt(spacing) + 1}] $count]
configure_dsss $opt(rts)
set positions {}
for {set row 0} {$row < $opt(side)} {incr row} {
    for {set column 0} {$column < $opt(side)} {incr column} {
        lappend positions [list [expr {$column * $opt(spacing) + 1}] [expr {$row * $opt(spacing) + 1}]]
    }
}
set nodes [make_nodes $topology AODV Mac/802_11 Phy/WirelessPhy Propagation/TwoRayGround $positions]
set sinks {}
for {set column 0} {$column < $opt(side)} {incr column} {
    lappend sinks [add_tcp_flow [lindex $nodes $column] [lindex $nodes [expr {$count - $opt(side) + $column}]]]
}

proc goodput {} {
    global opt sinks
    set flows {}
    foreach sink $sinks {
        lappend flows [expr {8.0 * [tcp_payload $sink] / ($opt(stop) - $opt(start))}]
    }
    return $flows
}
run_and_report goodput
