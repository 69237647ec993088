// TCP NewReno as RFC 9293, 5681, 6582 and 6298 have it, with a window in segments.
#pragma once

#include "ns3/core-module.h"
#include "ns3/internet-module.h"

#include <cstdint>

namespace peers
{

/// Options of the command line, with the values that a plain run uses.
struct TcpOptions
{
    uint32_t window = 32;         ///< Receive window in segments.
    uint32_t segment = 1000;      ///< Payload of a full segment in bytes.
    uint32_t initialWindow = 4;   ///< In segments; RFC 5681, section 3.1, gives 4 for 1000 B.
    uint32_t delayedAck = 2;      ///< Segments that one acknowledgement answers; 1 is no delay.
    double delayedAckTime = 0.2;  ///< Longest delay of an acknowledgement in seconds.
    double minRto = 1.0;          ///< Least retransmission timeout in seconds; RFC 6298, (2.4).
    bool limitedTransmit = false; ///< RFC 3042.

    /// Enters the options in a command line.
    void AddTo(ns3::CommandLine& line)
    {
        line.AddValue("window", "receive window, segments", window);
        line.AddValue("segment", "payload of a segment, bytes", segment);
        line.AddValue("iw", "initial congestion window, segments", initialWindow);
        line.AddValue("delack", "segments per acknowledgement, 1 is no delay", delayedAck);
        line.AddValue("delack-time", "longest delay of an acknowledgement, s", delayedAckTime);
        line.AddValue("min-rto", "least retransmission timeout, s", minRto);
        line.AddValue("limited-transmit", "RFC 3042", limitedTransmit);
    }
};

/// Makes the options those of every connection.
inline void
SetTcpDefaults(const TcpOptions& options)
{
    using namespace ns3;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    // ns-3's default is proportional rate reduction (RFC 6937), also for NewReno.
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(options.window * options.segment > 65535));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(options.limitedTransmit));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(options.minRto)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(options.segment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(options.initialWindow));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(options.delayedAck));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(Seconds(options.delayedAckTime)));
    // A connection that gives up after six timeouts would end the flow in the middle of the measurement.
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(1000000));
    Config::SetDefault("ns3::TcpSocket::ConnCount", UintegerValue(1000));
    // The receive buffer is the window. Both are whole numbers of segments, so that no short segment arises.
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(options.window * options.segment));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 * options.window * options.segment));
}

} // namespace peers
