// A saturated 802.11a cell with two access categories: `voice` senders of AC_VO and `effort` senders of AC_BE around one sink.
#include "report.h"

#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/propagation-module.h"
#include "ns3/qos-txop.h"
#include "ns3/traffic-control-module.h"

#include <cmath>
#include <memory>

namespace
{

using namespace ns3;

constexpr uint16_t PORT = 9;

/// Keeps the queue of one category of one station filled: each packet that leaves it is followed by another one.
class SaturatedSender
{
  public:
    SaturatedSender(Ptr<WifiNetDevice> device, Ipv4Address sink, uint32_t payload, AcIndex category)
        : m_payload(payload),
          m_socket(Socket::CreateSocket(device->GetNode(), UdpSocketFactory::GetTypeId())),
          m_queue(DynamicCast<WifiMac>(device->GetMac())->GetTxopQueue(category))
    {
        m_socket->Connect(InetSocketAddress(sink, PORT));
        // The device maps the three high bits of TOS to the user priority: 6 is voice, 0 is best effort.
        m_socket->SetIpTos(category == AC_VO ? 0xc0 : 0);
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
    static constexpr uint32_t BACKLOG = 12;

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
    uint32_t voice = 2;
    uint32_t effort = 2;
    uint32_t payload = 1472;
    bool txop = false;
    double radius = 0.1;
    double start = 1;
    double stop = 11;
    uint32_t seed = 1;
    CommandLine line(__FILE__);
    line.AddValue("voice", "saturated senders of AC_VO", voice);
    line.AddValue("effort", "saturated senders of AC_BE", effort);
    line.AddValue("payload", "UDP payload, bytes", payload);
    line.AddValue("txop", "AC_VO has a TXOP limit of 1504 us", txop);
    line.AddValue("radius", "of the circle of senders, m; up to 0.5 all signals are equally strong", radius);
    line.AddValue("start", "begin of the measurement, s; senders start within the first 10 ms", start);
    line.AddValue("stop", "end of the measurement and of the run, s", stop);
    line.AddValue("seed", "run number of the random streams", seed);
    line.Parse(argc, argv);
    const uint32_t stations = voice + effort;

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
                                 StringValue("OfdmRate54Mbps"),
                                 "ControlMode",
                                 StringValue("OfdmRate24Mbps"));
    WifiMacHelper mac;
    // No block acknowledgement, no aggregation: one frame, one ACK.
    mac.SetType("ns3::AdhocWifiMac",
                "QosSupported",
                BooleanValue(true),
                "VO_BlockAckThreshold",
                UintegerValue(0),
                "BE_BlockAckThreshold",
                UintegerValue(0),
                "VO_MaxAmpduSize",
                UintegerValue(0),
                "BE_MaxAmpduSize",
                UintegerValue(0));
    NetDeviceContainer devices = wifi.Install(phy, mac, nodes);
    wifi.AssignStreams(devices, 1000);
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        auto device = DynamicCast<WifiNetDevice>(devices.Get(i));
        // Without it the only basic rate is 6 Mb/s, and so is that of every ACK.
        device->GetRemoteStationManager()->AddBasicMode(WifiMode("OfdmRate24Mbps"));
        device->GetMac()->GetQosTxop(AC_VO)->SetTxopLimit(MicroSeconds(txop ? 1504 : 0));
        device->GetMac()->GetQosTxop(AC_BE)->SetTxopLimit(MicroSeconds(0));
    }

    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes);
    Ipv4AddressHelper address;
    address.SetBase("10.0.0.0", "255.255.0.0");
    Ipv4InterfaceContainer interfaces = address.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
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
                                                            payload,
                                                            i <= voice ? AC_VO : AC_BE));
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
