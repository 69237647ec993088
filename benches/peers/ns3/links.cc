// Two saturated links of 802.11n, 802.11ac or 802.11ax in AC_BE: to one receiver, from senders that don't hear each other or of which one
// has 802.11a, or next to each other on overlapping channels.
#include "cell.h"

#include "ns3/multi-model-spectrum-channel.h"
#include "ns3/spectrum-wifi-helper.h"

namespace
{

using namespace ns3;

/// A station: where it is, its channel, and its standard.
struct Place
{
    Vector position;
    std::string channel;
    bool isLegacy;
};

/// Options of the command line, with the values that a plain run uses.
struct LinksOptions
{
    std::string scene = "hidden";
    double distance = 10;
    double exponent = 3;
    uint32_t primary = 0;
    std::string neighbour = "{42, 80, BAND_5GHZ, 0}";

    /// Enters the options in a command line.
    void AddTo(CommandLine& line)
    {
        line.AddValue("scene", "hidden, legacy or overlap", scene);
        line.AddValue("distance", "from senders to the receiver, m", distance);
        line.AddValue("exponent", "of the path loss", exponent);
        line.AddValue("primary", "place of the primary channel of the first link", primary);
        line.AddValue("neighbour", "channel of the second link", neighbour);
    }

    /// The stations: receiver and sender of the first link, then of the second; hidden and legacy senders share the receiver.
    std::vector<Place> Places(uint32_t width) const
    {
        const uint32_t number = width == 80 ? 42 : width == 40 ? 38 : 36;
        const std::string own = "{" + std::to_string(number) + ", " + std::to_string(width) + ", BAND_5GHZ, " +
                                std::to_string(primary) + "}";
        if (scene == "overlap")
        {
            return {{Vector(distance, 0, 0), own, false},
                    {Vector(0, 0, 0), own, false},
                    {Vector(distance, 2 * distance, 0), neighbour, false},
                    {Vector(0, 2 * distance, 0), neighbour, false}};
        }
        return {{Vector(0, 0, 0), own, false},
                {Vector(-distance, 0, 0), own, false},
                {Vector(distance, 0, 0), scene == "legacy" ? "{36, 20, BAND_5GHZ, 0}" : own, scene == "legacy"}};
    }
};

} // namespace

int
main(int argc, char** argv)
{
    peers::CellOptions options;
    peers::HtOptions ht;
    LinksOptions links;
    CommandLine line(__FILE__);
    options.AddTo(line);
    ht.AddTo(line);
    links.AddTo(line);
    line.Parse(argc, argv);

    RngSeedManager::SetRun(options.seed);
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(7));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", UintegerValue(4));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(std::to_string(ht.queue) + "p")));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000000)));
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(ht.rts));
    Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck", BooleanValue(ht.explicitBar));

    const auto places = links.Places(ht.width);
    NodeContainer nodes(places.size());
    auto positions = CreateObject<ListPositionAllocator>();
    for (const auto& place : places)
    {
        positions->Add(place.position);
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(positions);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);

    auto channel = CreateObject<MultiModelSpectrumChannel>();
    auto loss = CreateObject<LogDistancePropagationLossModel>();
    loss->SetPathLossExponent(links.exponent);
    channel->AddPropagationLossModel(loss);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    SpectrumWifiPhyHelper phy;
    phy.SetChannel(channel);
    phy.Set("Antennas", UintegerValue(ht.streams));
    phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(ht.streams));
    phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(ht.streams));
    NetDeviceContainer devices;
    for (uint32_t i = 0; i < places.size(); ++i)
    {
        WifiHelper wifi;
        wifi.SetStandard(places[i].isLegacy ? WIFI_STANDARD_80211a : ht.Standard());
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                     "DataMode",
                                     StringValue(places[i].isLegacy ? "OfdmRate54Mbps" : ht.DataMode()),
                                     "ControlMode",
                                     StringValue(options.basicMode));
        phy.Set("ChannelSettings", StringValue(places[i].channel));
        WifiMacHelper mac = ht.Mac();
        if (places[i].isLegacy)
        {
            mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
        }
        devices.Add(wifi.Install(phy, mac, nodes.Get(i)));
        auto device = DynamicCast<WifiNetDevice>(devices.Get(i));
        device->GetRemoteStationManager()->AddBasicMode(WifiMode(options.basicMode));
        ht.Configure(device);
    }
    WifiHelper().AssignStreams(devices, 1000);
    peers::FrameCounter frames;
    frames.Watch(devices);

    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes);
    Ipv4AddressHelper address;
    address.SetBase("10.0.0.0", "255.255.0.0");
    auto interfaces = address.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    // Radios are on the channel once the run has begun.
    Simulator::Schedule(MilliSeconds(1), [&] { NeighborCacheHelper().PopulateNeighborCache(interfaces); });

    const uint16_t port = 9;
    auto open = [&](uint32_t node) { return Socket::CreateSocket(nodes.Get(node), UdpSocketFactory::GetTypeId()); };
    std::vector<std::unique_ptr<peers::Sink>> sinks;
    std::vector<std::unique_ptr<peers::SaturatedSender>> senders;
    auto offset = CreateObject<UniformRandomVariable>();
    // Receiver and sender of each link.
    const uint32_t second = places.size() == 4 ? 2 : 0;
    const std::vector<std::pair<uint32_t, uint32_t>> flows = {{0, 1}, {second, second == 0 ? 2 : 3}};
    for (const auto& [to, from] : flows)
    {
        if (to != 0 || sinks.empty())
        {
            sinks.push_back(std::make_unique<peers::Sink>(open(to), port, Seconds(options.start)));
        }
        auto socket = open(from);
        socket->Connect(InetSocketAddress(interfaces.GetAddress(to), port));
        auto mac = DynamicCast<WifiNetDevice>(devices.Get(from))->GetMac();
        const bool isLegacy = places[from].isLegacy;
        auto queue = isLegacy ? mac->GetTxop()->GetWifiMacQueue() : mac->GetTxopQueue(AC_BE);
        const uint32_t backlog = ht.ampdu > 0 && !isLegacy ? 2 * ht.window : 4;
        senders.push_back(std::make_unique<peers::SaturatedSender>(socket, queue, backlog, 0, options.payload));
        Simulator::Schedule(Seconds(offset->GetValue(0.002, 0.012)), &peers::SaturatedSender::Start, senders.back().get());
    }
    peers::RunAndReport(options.stop, frames, [&] {
        std::vector<double> goodput;
        for (const auto& [to, from] : flows)
        {
            const auto& sink = to == 0 ? sinks.front() : sinks.back();
            goodput.push_back(8.0 * sink->BytesFrom(interfaces.GetAddress(from)) / (options.stop - options.start));
        }
        return goodput;
    });
    return 0;
}
