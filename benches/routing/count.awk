# Counts what ns-2's new trace format says of datagrams (-Nl AGT) and routing messages (-Nl RTR, sent or passed on).
function field(name,    at) {
    for (at = 2; at < NF; at += 2)
        if ($at == name)
            return $(at + 1)
    return ""
}
($1 == "s" || $1 == "r") && / -Nl AGT / && / -It cbr / {
    id = field("-Ii")
    if ($1 == "s") {
        at[id] = $3
        sent++
    } else if (id in at) {
        delay += $3 - at[id]
        received++
        delete at[id]
    }
}
($1 == "s" || $1 == "f") && / -Nl RTR / && / -It (AODV|DSR|message) / { messages++ }
# Why a packet was dropped; CBK: the MAC had given its frame up, and routing did not take it back.
$1 == "d" && / -It cbr / { drops[field("-Nw")]++ }
END {
    printf "{\"sent\": %d, \"received\": %d, \"delay_s\": %.6f, \"routing_packets\": %d, \"drops\": {", sent, received, \
        delay / (received ? received : 1), messages
    for (why in drops) {
        printf "%s\"%s\": %d", comma, why, drops[why]
        comma = ", "
    }
    print "}}"
}
