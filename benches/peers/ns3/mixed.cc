// A station that sends to its access point, both of one standard, with an idle station of an older standard in the network.
#include "cell.h"

#include "ns3/ssid.h"

namespace
{

using namespace ns3;

/// What a standard needs here.
struct Kind
{
    WifiStandard standard;
    const char* channel;
    const char* dataMode;
    bool isQos;
};

Kind
KindOf(const std::string& name)
{
    const std::map<std::string, Kind> kinds = {
        {"b", {WIFI_STANDARD_80211b, "{1, 22, BAND_2_4GHZ, 0}", "DsssRate11Mbps", false}},
        {"g", {WIFI_STANDARD_80211g, "{1, 20, BAND_2_4GHZ, 0}", "ErpOfdmRate54Mbps", false}},
        {"n", {WIFI_STANDARD_80211n, "{1, 20, BAND_2_4GHZ, 0}", "HtMcs7", true}},
    };
    const auto kind = kinds.find(name);
    if (kind == kinds.end())
    {
        std::cerr << "standard: " << name << " is none of b, g, n\n";
        std::exit(2);
    }
    return kind->second;
}

} // namespace

int
main(int argc, char** argv)
{
    std::string newer = "g";
    std::string older = "b";
    std::string protection = "Cts-To-Self";
    uint32_t payload = 1472;
    double start = 5;
    double stop = 15;
    CommandLine line(__FILE__);
    line.AddValue("newer", "standard of the access point and its sender: g or n", newer);
    line.AddValue("older", "standard of the idle station: b, g or none", older);
    line.AddValue("protection", "from stations of 802.11b: Cts-To-Self, Rts-Cts or none", protection);
    line.AddValue("payload", "UDP payload, bytes", payload);
    line.AddValue("start", "begin of the measurement, s", start);
    line.AddValue("stop", "end of the measurement and of the run, s", stop);
    line.Parse(argc, argv);

    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize("400p")));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000000)));
    Config::SetDefault("ns3::WifiRemoteStationManager::NonUnicastMode", StringValue("DsssRate2Mbps"));
    if (protection != "none")
    {
        Config::SetDefault("ns3::WifiRemoteStationManager::ErpProtectionMode", StringValue(protection));
    }

    NodeContainer nodes(older == "none" ? 2 : 3);
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel");
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());

    NetDeviceContainer devices;
    for (uint32_t i = 0; i < nodes.GetN(); ++i)
    {
        const Kind kind = KindOf(i == 2 ? older : newer);
        WifiHelper wifi;
        wifi.SetStandard(kind.standard);
        phy.Set("ChannelSettings", StringValue(kind.channel));
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                     "DataMode",
                                     StringValue(kind.dataMode),
                                     "ControlMode",
                                     StringValue(i == 2 && older == "b" ? "DsssRate2Mbps" : "ErpOfdmRate24Mbps"));
        WifiMacHelper mac;
        const auto ssid = SsidValue(Ssid("mixed"));
        if (i == 0)
        {
            // A beacon each second takes no share of the medium that matters.
            mac.SetType("ns3::ApWifiMac",
                        "Ssid",
                        ssid,
                        "QosSupported",
                        BooleanValue(kind.isQos),
                        "EnableNonErpProtection",
                        BooleanValue(protection != "none"),
                        "BeaconInterval",
                        TimeValue(MicroSeconds(1024000)));
        }
        else
        {
            mac.SetType("ns3::StaWifiMac",
                        "Ssid",
                        ssid,
                        "QosSupported",
                        BooleanValue(kind.isQos),
                        "WaitBeaconTimeout",
                        TimeValue(Seconds(1.2)));
        }
        devices.Add(wifi.Install(phy, mac, nodes.Get(i)));
    }
    MobilityHelper mobility;
    auto positions = CreateObject<ListPositionAllocator>();
    positions->Add(Vector(0, 0, 0));
    positions->Add(Vector(2, 0, 0));
    positions->Add(Vector(4, 0, 0));
    mobility.SetPositionAllocator(positions);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        auto manager = DynamicCast<WifiNetDevice>(devices.Get(i))->GetRemoteStationManager();
        manager->AddBasicMode(WifiMode("DsssRate2Mbps"));
        if (i < 2)
        {
            manager->AddBasicMode(WifiMode("ErpOfdmRate24Mbps"));
        }
    }

    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes);
    Ipv4AddressHelper address;
    address.SetBase("10.0.0.0", "255.255.0.0");
    auto interfaces = address.Assign(devices);
    TrafficControlHelper().Uninstall(devices);

    const uint16_t port = 9;
    auto open = [&](uint32_t node) { return Socket::CreateSocket(nodes.Get(node), UdpSocketFactory::GetTypeId()); };
    peers::Sink sink(open(0), port, Seconds(start));
    auto socket = open(1);
    socket->Connect(InetSocketAddress(interfaces.GetAddress(0), port));
    auto mac = DynamicCast<WifiNetDevice>(devices.Get(1))->GetMac();
    auto queue = KindOf(newer).isQos ? mac->GetTxopQueue(AC_BE) : mac->GetTxop()->GetWifiMacQueue();
    std::unique_ptr<peers::SaturatedSender> sender;
    // By then the stations have joined; before, nothing stays in the queue, whose management frames would wake the sender.
    Simulator::Schedule(Seconds(4), [&] {
        if (!DynamicCast<StaWifiMac>(mac)->IsAssociated())
        {
            std::cerr << "the sender has not joined\n";
            std::exit(1);
        }
        // Not before: a link that comes up flushes the cache.
        NeighborCacheHelper().PopulateNeighborCache(interfaces);
        sender = std::make_unique<peers::SaturatedSender>(socket, queue, 200, 0, payload);
        sender->Start();
    });

    peers::FrameCounter frames;
    frames.Watch(devices);
    peers::RunAndReport(stop, frames, [&] {
        return std::vector<double>{8.0 * sink.BytesFrom(interfaces.GetAddress(1)) / (stop - start)};
    });
    return 0;
}
