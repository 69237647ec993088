# A dumbbell of TFRC and TCP (SACK) in ns-2. The file `flows` that dumbbell.py writes has of each flow: protocol, delay of its
# wire to either router, start.
#
# Prints of each flow, in the order of the file, the octets of payload that its sink had at `from` and at `stop` and the packets
# that it sent, and of all flows of TFRC and of TCP the packets that were lost.
source [file join [file dirname [info script]] .. peers ns2 common.tcl]
array set opt {
    flows "" seed 1 from 30 stop 90 rate 15e6 delay 0 queue 100 access 1e9 loss 0 segment 1000
    tfrc_header 36 tfrc_min_rto 0 tfrc_weight 0.95 tfrc_reordering 1 tfrc_discount 0.5 min_rto 0.2 delack 0
    tfrc_overhead 0 tcp_overhead 0
}
read_options

set ns [new Simulator]
$defaultRNG seed $opt(seed)
Agent/TFRC set packetSize_ $opt(segment)
Agent/TFRC set headersize_ $opt(tfrc_header)
Agent/TFRC set minrto_ $opt(tfrc_min_rto)
Agent/TFRC set df_ $opt(tfrc_weight)
Agent/TFRC set overhead_ $opt(tfrc_overhead)
Agent/TFRCSink set numPkts_ $opt(tfrc_reordering)
Agent/TFRCSink set minDiscountRatio_ $opt(tfrc_discount)
Agent/TCP set packetSize_ $opt(segment)
Agent/TCP set window_ 10000
Agent/TCP set overhead_ $opt(tcp_overhead)
Agent/TCP set minrto_ $opt(min_rto)
set tcp_header [Agent/TCP set tcpip_base_hdr_size_]

# A wire between two nodes. ns-2 drops what would fill its queue to the limit: a queue of n holds n - 1.
proc join_nodes {a b rate delay places} {
    global ns
    $ns duplex-link $a $b $rate $delay DropTail
    $ns queue-limit $a $b [expr {$places + 1}]
    $ns queue-limit $b $a [expr {$places + 1}]
}

set left [$ns node]
set right [$ns node]
join_nodes $left $right $opt(rate) $opt(delay) $opt(queue)
set monitor [$ns monitor-queue $left $right ""]
if {$opt(loss) > 0} {
    foreach {a b} [list $left $right $right $left] {
        set errors [new ErrorModel]
        $errors unit pkt
        $errors set rate_ $opt(loss)
        $errors ranvar [new RandomVariable/Uniform]
        $errors drop-target [new Agent/Null]
        $ns lossmodel $errors $a $b
    }
}

set agents {}
set file [open $opt(flows)]
foreach {protocol delay start} [read $file] {
    set from [$ns node]
    set to [$ns node]
    join_nodes $from $left $opt(access) $delay 10000
    join_nodes $right $to $opt(access) $delay 10000
    if {$protocol eq "tfrc"} {
        set agent [new Agent/TFRC]
        set sink [new Agent/TFRCSink]
        $ns at $start "$agent start"
    } else {
        set agent [new Agent/TCP/Sack1]
        set sink [new Agent/TCPSink/Sack1[expr {$opt(delack) > 0 ? "/DelAck" : ""}]]
        if {$opt(delack) > 0} {
            $sink set interval_ $opt(delack)
        }
        set ftp [new Application/FTP]
        $ftp attach-agent $agent
        $ns at $start "$ftp start"
    }
    $ns attach-agent $from $agent
    $ns attach-agent $to $sink
    $ns connect $agent $sink
    lappend agents $protocol $agent $sink
}
close $file

# Octets of payload that each sink has by now. Its `bytes_` counts headers too.
proc payloads {} {
    global agents opt tcp_header
    set octets {}
    foreach {protocol agent sink} $agents {
        set header [expr {$protocol eq "tfrc" ? $opt(tfrc_header) : $tcp_header}]
        lappend octets [expr {round([$sink set bytes_] * double($opt(segment)) / ($opt(segment) + $header))}]
    }
    return $octets
}

$ns at $opt(from) {set before [payloads]}
$ns at $opt(stop) {
    set sent {}
    array set lost {tfrc 0 tcp 0}
    foreach {protocol agent sink} $agents {
        lappend sent [$agent set ndatapack_]
        if {$protocol eq "tfrc"} {
            incr lost(tfrc) [expr {round([$agent set true_loss_rate_] * [$agent set ndatapack_])}]
        }
    }
    set lost(tcp) [expr {[$monitor set pdrops_] - $lost(tfrc)}]
    foreach {name values} [list before $before after [payloads] sent $sent lost "$lost(tfrc) $lost(tcp)"] {
        lappend report "\"$name\": \[[join $values ", "]\]"
    }
    puts "{[join $report ", "]}"
    exit 0
}
$ns run
