// An end of a call over RTP with pion's interceptors, next to `hopcast stream` as the other end. `tests/integration/emulation/pion.rs`
// runs it.
//
//	pion receive ADDRESS ccfb|twcc      reports what comes, asks for what is missing, and ends with the goodbye
//	pion send ADDRESS RATE TIME again|unchanged
//	                                    sends frames at the rate of pion's GCC, of RATE at most, for TIME, and what is asked for with
//	                                    another source or unchanged
//
// Both write what they counted as JSON.
package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/interceptor/pkg/ccfb"
	"github.com/pion/interceptor/pkg/gcc"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/interceptor/pkg/twcc"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
)

const (
	transportWide = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
	// As hopcast numbers the header extension, the source and the type of packets that are sent again.
	extension = 1
	again     = 2
	againType = 97
	source    = 0x70696f6e
	mediaType = 96
	frames    = 25
	payload   = 1316
)

func main() {
	var counts any
	var err error
	switch arguments := os.Args[1:]; {
	case len(arguments) == 3 && arguments[0] == "receive":
		counts, err = receive(arguments[1], arguments[2])
	case len(arguments) == 5 && arguments[0] == "send":
		counts, err = send(arguments[1], arguments[2], arguments[3], arguments[4] == "again")
	default:
		err = fmt.Errorf("receive ADDRESS FORMAT, or send ADDRESS RATE TIME again|unchanged")
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(counts)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func chain(factories ...interceptor.Factory) (interceptor.Interceptor, error) {
	registry := &interceptor.Registry{}
	for _, factory := range factories {
		registry.Add(factory)
	}
	return registry.Build("call")
}

func stream(ssrc uint32, payloadType uint8) *interceptor.StreamInfo {
	return &interceptor.StreamInfo{
		SSRC:                ssrc,
		PayloadType:         payloadType,
		ClockRate:           90000,
		RTPHeaderExtensions: []interceptor.RTPHeaderExtension{{URI: transportWide, ID: extension}},
		RTCPFeedback:        []interceptor.RTCPFeedback{{Type: "transport-cc"}, {Type: "nack"}},
	}
}

// Counts of a receiver.
type received struct {
	// Packets of media that came, each once, and those of them that came again only.
	Packets  int `json:"packets"`
	Repaired int `json:"repaired"`
	// Bytes of media in them.
	Bytes int `json:"bytes"`
	// Numbers between the first and the last that did not come.
	Missing int `json:"missing"`
	// Datagrams of reports and requests that were sent.
	Reports  int64 `json:"reports"`
	Requests int64 `json:"requests"`
}

func receive(address, format string) (*received, error) {
	socket, err := listen(address)
	if err != nil {
		return nil, err
	}
	var reports interceptor.Factory
	if format == "ccfb" {
		reports, err = ccfb.NewSenderInterceptor(ccfb.SendInterval(40 * time.Millisecond))
	} else {
		reports, err = twcc.NewSenderInterceptor()
	}
	if err != nil {
		return nil, err
	}
	requests, err := nack.NewGeneratorInterceptor(nack.GeneratorInterval(20 * time.Millisecond))
	if err != nil {
		return nil, err
	}
	// Requests are for media, sent again or not; reports are about what came.
	reporting, err := chain(reports)
	if err != nil {
		return nil, err
	}
	requesting, err := chain(requests)
	if err != nil {
		return nil, err
	}
	counts := &received{}
	var peer atomic.Pointer[net.UDPAddr]
	answer := func(counter *int64) interceptor.RTCPWriter {
		return interceptor.RTCPWriterFunc(func(packets []rtcp.Packet, _ interceptor.Attributes) (int, error) {
			octets, err := rtcp.Marshal(packets)
			if err != nil {
				return 0, err
			}
			atomic.AddInt64(counter, 1)
			return socket.WriteToUDP(octets, peer.Load())
		})
	}
	reporting.BindRTCPWriter(answer(&counts.Reports))
	requesting.BindRTCPWriter(answer(&counts.Requests))
	var datagram []byte
	taken := interceptor.RTPReaderFunc(
		func(octets []byte, attributes interceptor.Attributes) (int, interceptor.Attributes, error) {
			return copy(octets, datagram), attributes, nil
		})
	readers := map[uint32]interceptor.RTPReader{}
	var asking interceptor.RTPReader
	var media uint32
	seen := map[uint16]bool{}
	first, last := -1, -1
	buffer, copied := make([]byte, 2048), make([]byte, 2048)
	for {
		n, from, err := socket.ReadFromUDP(buffer)
		if err != nil {
			return nil, err
		}
		datagram = buffer[:n]
		peer.Store(from)
		if packetType := datagram[1]; packetType >= 192 && packetType <= 223 {
			packets, err := rtcp.Unmarshal(datagram)
			if err != nil {
				return nil, err
			}
			for _, packet := range packets {
				if _, isGoodbye := packet.(*rtcp.Goodbye); isGoodbye {
					counts.Missing = last - first + 1 - counts.Packets
					return counts, errors.Join(reporting.Close(), requesting.Close())
				}
			}
			continue
		}
		packet := &rtp.Packet{}
		if err := packet.Unmarshal(datagram); err != nil {
			return nil, err
		}
		if media == 0 {
			media, first = packet.SSRC, int(packet.SequenceNumber)
			last = first
			readers[media] = reporting.BindRemoteStream(stream(media, packet.PayloadType), taken)
			readers[media+again] = reporting.BindRemoteStream(stream(media+again, againType), taken)
			asking = requesting.BindRemoteStream(stream(media, packet.PayloadType), taken)
		}
		reader, isKnown := readers[packet.SSRC]
		if !isKnown {
			return nil, fmt.Errorf("source %d next to %d", packet.SSRC, media)
		}
		if _, _, err := reader.Read(copied, interceptor.Attributes{}); err != nil {
			return nil, err
		}
		number, body := packet.SequenceNumber, packet.Payload
		if packet.SSRC != media {
			// Padding of probes has no number of media.
			if len(body) < 2 {
				continue
			}
			number, body = binary.BigEndian.Uint16(body), body[2:]
		}
		if len(body) == 0 || seen[number] {
			continue
		}
		// As it was before it was sent again.
		original := rtp.Packet{Header: packet.Header, Payload: body}
		original.SequenceNumber, original.SSRC = number, media
		if datagram, err = original.Marshal(); err != nil {
			return nil, err
		}
		if _, _, err := asking.Read(copied, interceptor.Attributes{}); err != nil {
			return nil, err
		}
		seen[number] = true
		// Half of all numbers later they may come again.
		delete(seen, number+1<<15)
		counts.Packets++
		counts.Bytes += len(body)
		if packet.SSRC != media {
			counts.Repaired++
		}
		if ahead := int(int16(number - uint16(last))); ahead > 0 {
			last += ahead
		}
	}
}

// Counts of a sender.
type sent struct {
	// Packets of media, and their bytes.
	Packets int `json:"packets"`
	Bytes   int `json:"bytes"`
	// Packets that left, those that were sent again included.
	Left int64 `json:"left"`
	// Mean of the target rate, in b/s.
	Target float64 `json:"target_bps"`
	// Datagrams of feedback that came.
	Reports int64 `json:"reports"`
}

func send(address, most, lasts string, another bool) (*sent, error) {
	to, err := net.ResolveUDPAddr("udp4", address)
	if err != nil {
		return nil, err
	}
	limit, err := strconv.Atoi(most)
	if err != nil {
		return nil, err
	}
	duration, err := time.ParseDuration(lasts)
	if err != nil {
		return nil, err
	}
	socket, err := net.DialUDP("udp4", nil, to)
	if err != nil {
		return nil, err
	}
	estimators := make(chan cc.BandwidthEstimator, 1)
	control, err := cc.NewInterceptor(func() (cc.BandwidthEstimator, error) {
		return gcc.NewSendSideBWE(gcc.SendSideBWEInitialBitrate(300_000), gcc.SendSideBWEMinBitrate(150_000),
			gcc.SendSideBWEMaxBitrate(limit))
	})
	if err != nil {
		return nil, err
	}
	control.OnNewPeerConnection(func(_ string, estimator cc.BandwidthEstimator) { estimators <- estimator })
	responder, err := nack.NewResponderInterceptor()
	if err != nil {
		return nil, err
	}
	numbers, err := twcc.NewHeaderExtensionInterceptor()
	if err != nil {
		return nil, err
	}
	// The last one has a packet first: what is sent again is numbered, and then waits for the pacer.
	interceptors, err := chain(control, numbers, responder)
	if err != nil {
		return nil, err
	}
	estimator := <-estimators
	counts := &sent{}
	leave := interceptor.RTPWriterFunc(func(header *rtp.Header, body []byte, _ interceptor.Attributes) (int, error) {
		packet := rtp.Packet{Header: *header, Payload: body}
		octets, err := packet.Marshal()
		if err != nil {
			return 0, err
		}
		atomic.AddInt64(&counts.Left, 1)
		return socket.Write(octets)
	})
	info := stream(source, mediaType)
	if another {
		info.SSRCRetransmission, info.PayloadTypeRetransmission = source+again, againType
		// The pacer knows both sources.
		interceptors.BindLocalStream(stream(source+again, againType), leave)
	}
	writer := interceptors.BindLocalStream(info, leave)
	answers := make([]byte, 2048)
	reader := interceptors.BindRTCPReader(interceptor.RTCPReaderFunc(
		func(octets []byte, attributes interceptor.Attributes) (int, interceptor.Attributes, error) {
			n, err := socket.Read(octets)
			return n, attributes, err
		}))
	go func() {
		for {
			if _, _, err := reader.Read(answers, interceptor.Attributes{}); err != nil {
				// Nobody listens yet, or the call is over.
				time.Sleep(10 * time.Millisecond)
				continue
			}
			atomic.AddInt64(&counts.Reports, 1)
		}
	}()
	begun, sequence := time.Now(), uint16(0)
	body := make([]byte, payload)
	for frame := 0; time.Since(begun) < duration; frame++ {
		target := min(estimator.GetTargetBitrate(), limit)
		counts.Target += (float64(target) - counts.Target) / float64(frame+1)
		for left := target / (8 * frames); left > 0; left -= payload {
			size := min(left, payload)
			header := &rtp.Header{
				Version:        2,
				Marker:         left <= payload,
				PayloadType:    mediaType,
				SequenceNumber: sequence,
				Timestamp:      uint32(frame * 90000 / frames),
				SSRC:           source,
			}
			if _, err := writer.Write(header, body[:size], interceptor.Attributes{}); err != nil {
				return nil, err
			}
			sequence++
			counts.Packets++
			counts.Bytes += size
		}
		time.Sleep(time.Until(begun.Add(time.Duration(frame+1) * time.Second / frames)))
	}
	// The pacer has sent what waited, and what was asked for has come.
	time.Sleep(time.Second)
	goodbye, err := rtcp.Marshal([]rtcp.Packet{&rtcp.Goodbye{Sources: []uint32{source}}})
	if err != nil {
		return nil, err
	}
	for range 3 {
		if _, err := socket.Write(goodbye); err != nil {
			return nil, err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return counts, nil
}

func listen(address string) (*net.UDPConn, error) {
	at, err := net.ResolveUDPAddr("udp4", address)
	if err != nil {
		return nil, err
	}
	return net.ListenUDP("udp4", at)
}
