// Sources and sinks of the flows, and what arrived.
#pragma once

#include "ns3/applications-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace peers
{

/// The flows of a scenario, each with a port of its own.
class Flows
{
  public:
    /// They end at `stop` seconds.
    explicit Flows(double stop)
        : m_stop(stop)
    {
    }

    /// Packets of `payload` bytes over UDP, `interval` seconds apart, from `start` seconds on.
    void AddEven(ns3::Ptr<ns3::Node> from,
                 ns3::Ptr<ns3::Node> to,
                 ns3::Ipv4Address address,
                 uint32_t payload,
                 double interval,
                 double start)
    {
        using namespace ns3;
        UdpClientHelper client(address, AddSink("ns3::UdpSocketFactory", to, start));
        client.SetAttribute("MaxPackets", UintegerValue(std::numeric_limits<uint32_t>::max()));
        client.SetAttribute("PacketSize", UintegerValue(payload));
        client.SetAttribute("Interval", TimeValue(Seconds(interval)));
        Run(client.Install(from), start);
    }

    /// As much as goes over TCP, written in segments of `segment` bytes.
    void AddBulk(ns3::Ptr<ns3::Node> from,
                 ns3::Ptr<ns3::Node> to,
                 ns3::Ipv4Address address,
                 uint32_t segment,
                 double start)
    {
        using namespace ns3;
        BulkSendHelper bulk("ns3::TcpSocketFactory",
                            InetSocketAddress(address, AddSink("ns3::TcpSocketFactory", to, start)));
        bulk.SetAttribute("MaxBytes", UintegerValue(0));
        bulk.SetAttribute("SendSize", UintegerValue(segment));
        Run(bulk.Install(from), start);
    }

    /// Bit/s of each flow, from its start to the end.
    std::vector<double> Goodput() const
    {
        std::vector<double> goodput;
        for (const Sink& sink : m_sinks)
        {
            goodput.push_back(8.0 * sink.application->GetTotalRx() / (m_stop - sink.start));
        }
        return goodput;
    }

  private:
    static constexpr uint16_t PORT = 5001;

    struct Sink
    {
        ns3::Ptr<ns3::PacketSink> application;
        double start; ///< Of its flow, in seconds.
    };

    /// Returns its port.
    uint16_t AddSink(const char* factory, ns3::Ptr<ns3::Node> node, double start)
    {
        using namespace ns3;
        const auto port = static_cast<uint16_t>(PORT + m_sinks.size());
        PacketSinkHelper sink(factory, InetSocketAddress(Ipv4Address::GetAny(), port));
        auto sinks = sink.Install(node);
        sinks.Start(Seconds(0));
        m_sinks.push_back({DynamicCast<PacketSink>(sinks.Get(0)), start});
        return port;
    }

    void Run(ns3::ApplicationContainer senders, double start) const
    {
        senders.Start(ns3::Seconds(start));
        senders.Stop(ns3::Seconds(m_stop));
    }

    double m_stop;
    std::vector<Sink> m_sinks;
};

} // namespace peers
