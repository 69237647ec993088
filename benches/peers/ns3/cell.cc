// An 802.11a cell: `stations` senders evenly around one sink, their queues never empty.
#include "report.h"

#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"

#include <cmath>
#include <memory>

namespace
{

using namespace ns3;

constexpr uint16_t PORT = 9;

/// Keeps a few datagrams in the interface queue of one station: each one that leaves it is followed by another one.
class SaturatedSender
{
  public:
    SaturatedSender(Ptr<WifiNetDevice> device, Ipv4Address sink, uint32_t payload)
        : m_payload(payload),
          m_socket(Socket::CreateSocket(device->GetNode(), UdpSocketFactory::GetTypeId())),
          m_queue(DynamicCast<WifiMac>(device->GetMac())->GetTxop()->GetWifiMacQueue())
    {
        m_socket->Connect(InetSocketAddress(sink, PORT));
        m_queue->TraceConnectWithoutContext("Dequeue", MakeCallback(&SaturatedSender::OnDequeue, this));
    }

    /// Fills the queue.
    void Start()
    {
        while (m_queue->GetNPackets() < BACKLOG)
        {
            m_socket->Send(Create<Packet>(m_payload));
        }
    }

  private:
    static constexpr uint32_t BACKLOG = 4;

    void OnDequeue(Ptr<const WifiMpdu>)
    {
        // Not from within the queue's own operation.
        Simulator::ScheduleNow(&SaturatedSender::Start, this);
    }

    uint32_t m_payload;
    Ptr<Socket> m_socket;
    Ptr<WifiMacQueue> m_queue;
};

/// Counts what arrives from each station from `m_from` on.
class Sink
{
  public:
    Sink(Ptr<Node> node, Time from)
        : m_from(from),
          m_socket(Socket::CreateSocket(node, UdpSocketFactory::GetTypeId()))
    {
        m_socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
        m_socket->SetRecvCallback(MakeCallback(&Sink::OnReadable, this));
    }

    /// Bytes from this address.
    uint64_t BytesFrom(Ipv4Address address) const
    {
        const auto entry = m_bytes.find(address);
        return entry == m_bytes.end() ? 0 : entry->second;
    }

  private:
    void OnReadable(Ptr<Socket> socket)
    {
        Address from;
        while (Ptr<Packet> packet = socket->RecvFrom(from))
        {
            if (Simulator::Now() >= m_from)
            {
                m_bytes[InetSocketAddress::ConvertFrom(from).GetIpv4()] += packet->GetSize();
            }
        }
    }

    Time m_from;
    Ptr<Socket> m_socket;
    std::map<Ipv4Address, uint64_t> m_bytes;
};

} // namespace

int
main(int argc, char** argv)
{
    uint32_t stations = 10;
    uint32_t payload = 1472;
    double radius = 1;
    double start = 1;
    double stop = 11;
    uint32_t seed = 1;
    std::string dataMode = "OfdmRate54Mbps";
    std::string basicMode = "OfdmRate24Mbps";
    CommandLine line(__FILE__);
    line.AddValue("stations", "saturated senders around the sink", stations);
    line.AddValue("payload", "UDP payload, bytes", payload);
    line.AddValue("radius", "of the circle of senders, m", radius);
    line.AddValue("start", "begin of the measurement, s; senders start within the first 10 ms", start);
    line.AddValue("stop", "end of the measurement and of the run, s", stop);
    line.AddValue("seed", "run number of the random streams", seed);
    line.AddValue("data-mode", "rate of data frames", dataMode);
    line.AddValue("basic-mode", "highest rate of ACK frames", basicMode);
    line.Parse(argc, argv);
    if (stations == 0)
    {
        std::cerr << "stations: 0 is less than 1\n";
        return 2;
    }

    RngSeedManager::SetRun(seed);
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(7));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", UintegerValue(4));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize("50p")));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000000)));

    NodeContainer nodes(stations + 1);
    auto positions = CreateObject<ListPositionAllocator>();
    positions->Add(Vector(0, 0, 0));
    for (uint32_t i = 0; i < stations; ++i)
    {
        const double angle = 2 * M_PI * i / stations;
        positions->Add(Vector(radius * std::cos(angle), radius * std::sin(angle), 0));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(positions);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);

    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel");
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211a);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 StringValue(dataMode),
                                 "ControlMode",
                                 StringValue(basicMode));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    NetDeviceContainer devices = wifi.Install(phy, mac, nodes);
    wifi.AssignStreams(devices, 1000);
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        // Without it the only basic rate is 6 Mb/s, and so is that of every ACK.
        DynamicCast<WifiNetDevice>(devices.Get(i))->GetRemoteStationManager()->AddBasicMode(WifiMode(basicMode));
    }

    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes);
    Ipv4AddressHelper address;
    address.SetBase("10.0.0.0", "255.255.0.0");
    Ipv4InterfaceContainer interfaces = address.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    // The variants that take a channel or nothing crash where IPv6 is not installed.
    NeighborCacheHelper().PopulateNeighborCache(interfaces);

    peers::FrameCounter frames;
    frames.Watch(devices);
    Sink sink(nodes.Get(0), Seconds(start));
    auto offset = CreateObject<UniformRandomVariable>();
    std::vector<std::unique_ptr<SaturatedSender>> senders;
    for (uint32_t i = 1; i <= stations; ++i)
    {
        senders.push_back(std::make_unique<SaturatedSender>(DynamicCast<WifiNetDevice>(devices.Get(i)),
                                                            interfaces.GetAddress(0),
                                                            payload));
        Simulator::Schedule(Seconds(offset->GetValue(0, 0.01)), &SaturatedSender::Start, senders.back().get());
    }

    peers::RunAndReport(stop, frames, [&] {
        std::vector<double> goodput;
        for (uint32_t i = 1; i <= stations; ++i)
        {
            goodput.push_back(8.0 * sink.BytesFrom(interfaces.GetAddress(i)) / (stop - start));
        }
        return goodput;
    });
    return 0;
}
