# What the ns-2 programs share: options, the wireless nodes, the count of frames and the report.
#
# ns-2 has no counter of transmitted frames. With `-count 1` every transmission of the MAC is traced to a pipe that counts
# the lines; the run is the same one, draw for draw, but slower. Without it nothing is traced, and `frames_sent` is null.

# Reads `-key value` pairs of the command line into the array `opt`; only keys that it already holds are known.
proc read_options {} {
    global argv opt
    foreach {key value} $argv {
        set name [string range $key 1 end]
        if {[string index $key 0] ne "-" || ![info exists opt($name)]} {
            puts stderr "unknown option: $key; known: [lsort [array names opt]]"
            exit 2
        }
        set opt($name) $value
    }
}

# Starts the simulator and its trace; `area` is the side of the square that holds all nodes, in metres.
proc start_simulator {area nodes} {
    global ns opt trace counted
    set ns [new Simulator]
    $ns use-newtrace
    global defaultRNG
    $defaultRNG seed $opt(seed)
    # A mobile node wants a trace file even where nothing is traced.
    set counted [file join [expr {[info exists ::env(TMPDIR)] ? $::env(TMPDIR) : "/tmp"}] "frames.[pid]"]
    set trace [expr {$opt(count) ? [open "|grep -c {^s.*-Nl MAC} >$counted" w] : [open /dev/null w]}]
    $ns trace-all $trace
    set topology [new Topography]
    $topology load_flatgrid $area $area
    create-god $nodes
    return $topology
}

# Configures the nodes to be made.
proc configure_nodes {topology routing mac phy propagation} {
    global ns opt
    $ns node-config -adhocRouting $routing -llType LL -macType $mac -ifqType Queue/DropTail/PriQueue -ifqLen 50 \
        -antType Antenna/OmniAntenna -propType $propagation -phyType $phy -channel [new Channel/WirelessChannel] \
        -topoInstance $topology -agentTrace OFF -routerTrace OFF -movementTrace OFF \
        -macTrace [expr {$opt(count) ? "ON" : "OFF"}]
}

# Makes a node at a position {x y} in metres; with an address, if addresses are hierarchical.
proc make_node {position args} {
    global ns
    set node [$ns node {*}$args]
    $node random-motion 0
    $node set X_ [lindex $position 0]
    $node set Y_ [lindex $position 1]
    $node set Z_ 0
    return $node
}

# Configures nodes and makes one at each of the `positions`.
proc make_nodes {topology routing mac phy propagation positions} {
    configure_nodes $topology $routing $mac $phy $propagation
    set nodes {}
    foreach position $positions {
        lappend nodes [make_node $position]
    }
    return $nodes
}

# The 914 MHz DSSS radio of ns-2's defaults at 2 Mb/s: 250 m decode, 550 m sense, capture at 10 dB.
proc configure_dsss {rts} {
    global opt
    Antenna/OmniAntenna set X_ 0
    Antenna/OmniAntenna set Y_ 0
    Antenna/OmniAntenna set Z_ 1.5
    Antenna/OmniAntenna set Gt_ 1.0
    Antenna/OmniAntenna set Gr_ 1.0
    Phy/WirelessPhy set Pt_ 0.28183815
    Phy/WirelessPhy set freq_ 914e6
    Phy/WirelessPhy set L_ 1.0
    Phy/WirelessPhy set RXThresh_ 3.652e-10
    Phy/WirelessPhy set CSThresh_ 1.559e-11
    Phy/WirelessPhy set CPThresh_ 10.0
    # Without this the data rate is the library's 1 Mb/s.
    Mac/802_11 set dataRate_ 2Mb
    Mac/802_11 set basicRate_ 1Mb
    Mac/802_11 set RTSThreshold_ [expr {$rts ? 0 : 3000}]
    Mac/802_11 set ShortRetryLimit_ [expr {$opt(retries) > 0 ? $opt(retries) : 7}]
    Mac/802_11 set LongRetryLimit_ [expr {$opt(retries) > 0 ? $opt(retries) : 4}]
}

# The timing of OFDM at 54 Mb/s, with these retry limits and without RTS. 802.11-2020, 17.3.2.4 and Table 17-21: preamble 16 us
# and SIGNAL 4 us, here as bits at 6 Mb/s; slot 9, SIFS 16 us. In 802.11g these are SIFS 10 us after a signal extension of 6 us.
proc configure_ofdm {short_retries long_retries} {
    Mac/802_11 set PreambleLength_ 96
    Mac/802_11 set PLCPHeaderLength_ 24
    Mac/802_11 set PLCPDataRate_ 6Mb
    Mac/802_11 set SlotTime_ 0.000009
    Mac/802_11 set SIFS_ 0.000016
    Mac/802_11 set CWMin_ 15
    Mac/802_11 set CWMax_ 1023
    Mac/802_11 set dataRate_ 54Mb
    Mac/802_11 set basicRate_ 24Mb
    Mac/802_11 set RTSThreshold_ 3000
    Mac/802_11 set ShortRetryLimit_ $short_retries
    Mac/802_11 set LongRetryLimit_ $long_retries
}

# Length of the TCP and IP headers together. The MAC adds 34 B instead of the 28 B of the standard, and there is no
# LLC/SNAP (8 B), so 42 B make the frame as long as a real one: 1000 + 20 + 20 + 8 + 28 = 1000 + 42 + 34 B. 40 is ns-2's.
proc tcp_header {} {
    global opt
    return [expr {$opt(exact_sizes) ? 42 : 40}]
}

# One bulk NewReno flow; returns its sink.
proc add_tcp_flow {from to} {
    global ns opt
    set header [tcp_header]
    Agent/TCP set tcpip_base_hdr_size_ $header
    Agent/TCP set packetSize_ $opt(segment)
    Agent/TCP set window_ $opt(window)
    Agent/TCP set windowInit_ $opt(iw)
    Agent/TCP set minrto_ $opt(min_rto)
    Agent/TCP set tcpTick_ $opt(tick)
    Agent/TCP set singledup_ $opt(limited_transmit)
    set tcp [new Agent/TCP/Newreno]
    if {$opt(delack) > 0} {
        set sink [new Agent/TCPSink/DelAck]
        $sink set interval_ $opt(delack)
    } else {
        set sink [new Agent/TCPSink]
    }
    $sink set packetSize_ $header
    $ns attach-agent $from $tcp
    $ns attach-agent $to $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at $opt(start) "$ftp start"
    return $sink
}

# Packets of `size` bytes at even times, from `start` on; returns their sink.
proc add_even_flow {from to size interval start} {
    global ns
    set udp [new Agent/UDP]
    $udp set packetSize_ $size
    set sink [new Agent/LossMonitor]
    $ns attach-agent $from $udp
    $ns attach-agent $to $sink
    $ns connect $udp $sink
    set source [new Application/Traffic/CBR]
    $source set packetSize_ $size
    $source set interval_ $interval
    $source attach-agent $udp
    $ns at $start "$source start"
    return $sink
}

# Payload bytes that a TCP sink has delivered in order. It counts headers too, and the first packet is a bare SYN.
proc tcp_payload {sink} {
    global opt
    set header [tcp_header]
    set bytes [expr {[$sink set bytes_] - $header}]
    return [expr {$bytes <= 0 ? 0 : $bytes / ($opt(segment) + $header) * $opt(segment)}]
}

# Runs until `stop` and prints the report. `goodput` is a command that gives the list of bit/s at the end.
proc run_and_report {goodput} {
    global ns opt
    set begin [clock microseconds]
    $ns at $opt(stop) [list finish $goodput $begin]
    $ns run
}

proc finish {goodput begin} {
    global ns opt trace counted
    set wall [expr {([clock microseconds] - $begin) / 1e6}]
    $ns flush-trace
    # grep reports "nothing found" as a failure, which is not one here.
    catch {close $trace}
    set frames null
    if {$opt(count)} {
        set file [open $counted]
        set frames [string trim [read $file]]
        close $file
        file delete $counted
    }
    set flows {}
    foreach flow [eval $goodput] {
        lappend flows [format %.3f $flow]
    }
    puts [format {{"goodput_bps": [%s], "frames_sent": %s, "wall_s": %.6f, "simulated_s": %.6f, "events": null}} \
        [join $flows ", "] $frames $wall $opt(stop)]
    flush stdout
    exit 0
}

# Options of the TCP programs, with the values that a plain run uses: ns-2's own ones. `retries` above 0 is both retry
# limits.
array set opt {
    seed 1  count 0  start 10  stop 110
    window 32  segment 1000  rts 0  iw 2  delack 0  min_rto 0.2  tick 0.01  limited_transmit 1  exact_sizes 1
    retries 0
}
