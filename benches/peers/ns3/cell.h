// A cell, of 802.11a unless it is given other radios: senders evenly around one sink, their queues never empty. What the
// cells have in common.
#pragma once

#include "ht_radio.h"
#include "report.h"

#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace peers
{

/// Options of the command line, with the values that a plain run uses.
struct CellOptions
{
    uint32_t payload = 1472;                  ///< UDP payload in bytes.
    double radius = 1;                        ///< Of the circle of senders, in metres.
    double start = 1;                         ///< Begin of the measurement in seconds.
    double stop = 11;                         ///< End of the measurement and of the run in seconds.
    uint32_t seed = 1;                        ///< Run number of the random streams.
    std::string dataMode = "OfdmRate54Mbps";  ///< Rate of data frames.
    std::string basicMode = "OfdmRate24Mbps"; ///< Highest rate of ACK frames.
    std::optional<HtOptions> ht;              ///< Radios of 802.11n, ac or ax; `dataMode` is theirs then.

    /// Enters the options in a command line.
    void AddTo(ns3::CommandLine& line)
    {
        line.AddValue("payload", "UDP payload, bytes", payload);
        line.AddValue("radius", "of the circle of senders, m; up to 0.5 all signals are equally strong", radius);
        line.AddValue("start", "begin of the measurement, s; senders start within the first 10 ms", start);
        line.AddValue("stop", "end of the measurement and of the run, s", stop);
        line.AddValue("seed", "run number of the random streams", seed);
        line.AddValue("data-mode", "rate of data frames", dataMode);
        line.AddValue("basic-mode", "highest rate of ACK frames", basicMode);
    }
};

/// Keeps a few datagrams in one queue of one station: each one that leaves it is followed by another one.
class SaturatedSender
{
  public:
    /// Datagrams with `tos` end up in `queue` of the socket's node, which holds `backlog` of them.
    SaturatedSender(ns3::Ptr<ns3::Socket> socket,
                    ns3::Ptr<ns3::WifiMacQueue> queue,
                    uint32_t backlog,
                    uint8_t tos,
                    uint32_t payload)
        : m_socket(socket),
          m_queue(queue),
          m_backlog(backlog),
          m_payload(payload)
    {
        m_socket->SetIpTos(tos);
        m_queue->TraceConnectWithoutContext("Dequeue", ns3::MakeCallback(&SaturatedSender::OnDequeue, this));
    }

    /// Fills the queue.
    void Start()
    {
        while (m_queue->GetNPackets() < m_backlog)
        {
            m_socket->Send(ns3::Create<ns3::Packet>(m_payload));
        }
    }

  private:
    void OnDequeue(ns3::Ptr<const ns3::WifiMpdu>)
    {
        // Not from within the queue's own operation.
        ns3::Simulator::ScheduleNow(&SaturatedSender::Start, this);
    }

    ns3::Ptr<ns3::Socket> m_socket;
    ns3::Ptr<ns3::WifiMacQueue> m_queue;
    uint32_t m_backlog;
    uint32_t m_payload;
};

/// Counts what arrives from each station from `from` on.
class Sink
{
  public:
    Sink(ns3::Ptr<ns3::Socket> socket, uint16_t port, ns3::Time from)
        : m_from(from),
          m_socket(socket)
    {
        m_socket->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port));
        m_socket->SetRecvCallback(ns3::MakeCallback(&Sink::OnReadable, this));
    }

    /// Bytes from this address.
    uint64_t BytesFrom(ns3::Ipv4Address address) const
    {
        const auto entry = m_bytes.find(address);
        return entry == m_bytes.end() ? 0 : entry->second;
    }

  private:
    void OnReadable(ns3::Ptr<ns3::Socket> socket)
    {
        ns3::Address from;
        while (ns3::Ptr<ns3::Packet> packet = socket->RecvFrom(from))
        {
            if (ns3::Simulator::Now() >= m_from)
            {
                m_bytes[ns3::InetSocketAddress::ConvertFrom(from).GetIpv4()] += packet->GetSize();
            }
        }
    }

    ns3::Time m_from;
    ns3::Ptr<ns3::Socket> m_socket;
    std::map<ns3::Ipv4Address, uint64_t> m_bytes;
};

/// The sink, which is station 0, and the stations around it.
class Cell
{
  public:
    /// `stations` senders with this MAC, none of which sends yet.
    Cell(const CellOptions& options, uint32_t stations, const ns3::WifiMacHelper& mac)
        : m_options(options),
          m_nodes(stations + 1)
    {
        ns3::RngSeedManager::SetRun(options.seed);
        PlaceNodes();
        InstallRadios(mac);
        InstallInternet();
        m_sink = std::make_unique<Sink>(OpenSocket(0), PORT, ns3::Seconds(options.start));
        m_offset = ns3::CreateObject<ns3::UniformRandomVariable>();
    }

    /// The MAC of a station.
    ns3::Ptr<ns3::WifiMac> Mac(uint32_t station) const
    {
        return ns3::DynamicCast<ns3::WifiNetDevice>(m_devices.Get(station))->GetMac();
    }

    /// Keeps `queue` of the next station, the first of which is 1, filled with datagrams for the sink.
    void AddSender(ns3::Ptr<ns3::WifiMacQueue> queue, uint32_t backlog, uint8_t tos = 0)
    {
        auto socket = OpenSocket(m_senders.size() + 1);
        socket->Connect(ns3::InetSocketAddress(m_interfaces.GetAddress(0), PORT));
        m_senders.push_back(std::make_unique<SaturatedSender>(socket, queue, backlog, tos, m_options.payload));
        ns3::Simulator::Schedule(ns3::Seconds(m_offset->GetValue(0, 0.01)),
                                 &SaturatedSender::Start,
                                 m_senders.back().get());
    }

    /// Runs it and prints the report.
    void Run()
    {
        RunAndReport(m_options.stop, m_frames, [this] {
            std::vector<double> goodput;
            for (uint32_t i = 1; i <= m_senders.size(); ++i)
            {
                const uint64_t bytes = m_sink->BytesFrom(m_interfaces.GetAddress(i));
                goodput.push_back(8.0 * bytes / (m_options.stop - m_options.start));
            }
            return goodput;
        });
    }

  private:
    static constexpr uint16_t PORT = 9;

    void PlaceNodes()
    {
        using namespace ns3;
        const uint32_t stations = m_nodes.GetN() - 1;
        auto positions = CreateObject<ListPositionAllocator>();
        positions->Add(Vector(0, 0, 0));
        for (uint32_t i = 0; i < stations; ++i)
        {
            const double angle = 2 * M_PI * i / stations;
            positions->Add(Vector(m_options.radius * std::cos(angle), m_options.radius * std::sin(angle), 0));
        }
        MobilityHelper mobility;
        mobility.SetPositionAllocator(positions);
        mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
        mobility.Install(m_nodes);
    }

    void InstallRadios(const ns3::WifiMacHelper& mac)
    {
        using namespace ns3;
        // 802.11-1999, 9.2.4: attempts at frames up to the RTS threshold and above it.
        Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(7));
        Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", UintegerValue(4));
        const std::string queue = std::to_string(m_options.ht ? m_options.ht->queue : 50) + "p";
        Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(queue)));
        // The default drops what has waited for half a second.
        Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000000)));

        YansWifiChannelHelper channel;
        channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
        channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel");
        YansWifiPhyHelper phy;
        phy.SetChannel(channel.Create());
        if (m_options.ht)
        {
            m_options.ht->SetPhy(phy);
        }
        WifiHelper wifi;
        wifi.SetStandard(m_options.ht ? m_options.ht->Standard() : WIFI_STANDARD_80211a);
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                     "DataMode",
                                     StringValue(m_options.ht ? m_options.ht->DataMode() : m_options.dataMode),
                                     "ControlMode",
                                     StringValue(m_options.basicMode));
        m_devices = wifi.Install(phy, mac, m_nodes);
        wifi.AssignStreams(m_devices, 1000);
        for (uint32_t i = 0; i < m_devices.GetN(); ++i)
        {
            // Without it the only basic rate is 6 Mb/s, and so is that of every ACK.
            auto device = DynamicCast<WifiNetDevice>(m_devices.Get(i));
            device->GetRemoteStationManager()->AddBasicMode(WifiMode(m_options.basicMode));
            if (m_options.ht)
            {
                m_options.ht->Configure(device);
            }
        }
        m_frames.Watch(m_devices);
    }

    void InstallInternet()
    {
        using namespace ns3;
        InternetStackHelper internet;
        internet.SetIpv6StackInstall(false);
        internet.Install(m_nodes);
        Ipv4AddressHelper address;
        address.SetBase("10.0.0.0", "255.255.0.0");
        m_interfaces = address.Assign(m_devices);
        TrafficControlHelper().Uninstall(m_devices);
        // The variants that take a channel or nothing crash where IPv6 is not installed.
        NeighborCacheHelper().PopulateNeighborCache(m_interfaces);
    }

    ns3::Ptr<ns3::Socket> OpenSocket(uint32_t station) const
    {
        return ns3::Socket::CreateSocket(m_nodes.Get(station), ns3::UdpSocketFactory::GetTypeId());
    }

    CellOptions m_options;
    ns3::NodeContainer m_nodes;
    ns3::NetDeviceContainer m_devices;
    ns3::Ipv4InterfaceContainer m_interfaces;
    FrameCounter m_frames;
    std::unique_ptr<Sink> m_sink;
    ns3::Ptr<ns3::UniformRandomVariable> m_offset;
    std::vector<std::unique_ptr<SaturatedSender>> m_senders;
};

} // namespace peers
