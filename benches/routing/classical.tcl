# The classical scene in ns-2, from the folder `scene` that ns2.py writes: movement.tcl, and source, sink and start of each flow.
#
# All frames go at 2 Mb/s, as in classical.py. The sizes of datagrams are `payload` and 10 B, by which frames are as long as those of
# hopcast (../peers/ns2/roam.tcl). The trace goes through count.awk, which prints the report at the end.
source [file join [file dirname [info script]] .. peers ns2 common.tcl]
array set opt {scene "" stop 900 routing AODV payload 64 interval 0.25 nodes 50 width 1500 height 300}
read_options

set ns [new Simulator]
$ns use-newtrace
$defaultRNG seed $opt(seed)
set trace [open "|awk -f [file join [file dirname [info script]] count.awk] >@stdout" w]
$ns trace-all $trace
set topology [new Topography]
$topology load_flatgrid [expr {$opt(width) + 1}] [expr {$opt(height) + 1}]
create-god $opt(nodes)
configure_dsss 1
Mac/802_11 set basicRate_ 2Mb
# DSR looks into the queue for what waits for a broken link.
set queue [expr {$opt(routing) eq "DSR" ? "CMUPriQueue" : "Queue/DropTail/PriQueue"}]
$ns node-config -adhocRouting $opt(routing) -llType LL -macType Mac/802_11 -ifqType $queue -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $topology \
    -agentTrace ON -routerTrace ON -macTrace OFF -movementTrace OFF
set ns_ $ns
for {set i 0} {$i < $opt(nodes)} {incr i} {
    set node_($i) [make_node {1 1}]
}
source [file join $opt(scene) movement.tcl]
set file [open [file join $opt(scene) flows.txt]]
foreach {from to start} [read $file] {
    add_even_flow $node_($from) $node_($to) [expr {$opt(payload) + 10}] $opt(interval) $start
}
close $file
$ns at $opt(stop) {
    $ns flush-trace
    close $trace
    exit 0
}
$ns run
