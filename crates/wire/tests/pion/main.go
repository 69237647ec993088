// Reads RTCP feedback packets with pion/rtcp, one in hexadecimal a line, and writes of each the values that it found and the packet
// that pion makes of them. `tests/integration/peers.rs` runs it.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"

	"github.com/pion/rtcp"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		octets, err := hex.DecodeString(lines.Text())
		if err == nil {
			err = answer(octets)
		}
		if err != nil {
			fmt.Println("error:", err)
		}
	}
}

func answer(octets []byte) error {
	packets, err := rtcp.Unmarshal(octets)
	if err != nil {
		return err
	}
	if len(packets) != 1 {
		return fmt.Errorf("%d packets", len(packets))
	}
	switch packet := packets[0].(type) {
	case *rtcp.CCFeedbackReport:
		fmt.Print("ccfb ", packet.SenderSSRC, " ", packet.ReportTimestamp)
		for _, block := range packet.ReportBlocks {
			fmt.Print(" source ", block.MediaSSRC, " ", block.BeginSequence)
			for _, metric := range block.MetricBlocks {
				if metric.Received {
					fmt.Print(" ", uint8(metric.ECN), ":", metric.ArrivalTimeOffset)
				} else {
					fmt.Print(" -")
				}
			}
		}
	case *rtcp.TransportLayerCC:
		fmt.Print("twcc ", packet.SenderSSRC, " ", packet.MediaSSRC, " ", packet.BaseSequenceNumber, " ",
			packet.PacketStatusCount, " ", packet.ReferenceTime, " ", packet.FbPktCount)
		for _, delta := range packet.RecvDeltas {
			fmt.Print(" ", delta.Delta/rtcp.TypeTCCDeltaScaleFactor)
		}
	default:
		return fmt.Errorf("a packet of type %T", packet)
	}
	again, err := packets[0].Marshal()
	if err != nil {
		return err
	}
	fmt.Printf(" = %x\n", again)
	return nil
}
