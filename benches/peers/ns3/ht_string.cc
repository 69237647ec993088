// A string of nodes with radios of 802.11n, 802.11ac or 802.11ax, with one bulk TCP NewReno flow from end to end.
#include "flows.h"
#include "ht_radio.h"
#include "report.h"
#include "tcp.h"

#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"

int
main(int argc, char** argv)
{
    using namespace ns3;
    uint32_t hops = 7;
    double spacing = 20;
    double start = 1;
    double stop = 11;
    uint32_t seed = 1;
    peers::HtOptions ht;
    ht.standard = "ac";
    ht.mcs = 3;
    ht.streams = 1;
    ht.ampdu = 1048575;
    peers::TcpOptions tcp;
    tcp.segment = 1448;
    CommandLine line(__FILE__);
    ht.AddTo(line);
    tcp.AddTo(line);
    line.AddValue("hops", "hops of the flow; there is one node more", hops);
    line.AddValue("spacing", "between neighbours, m", spacing);
    line.AddValue("start", "start of the flow, s", start);
    line.AddValue("stop", "end of the flow and of the run, s", stop);
    line.AddValue("seed", "run number of the random streams", seed);
    line.Parse(argc, argv);
    if (hops == 0)
    {
        std::cerr << "hops: 0 is less than 1\n";
        return 2;
    }

    RngSeedManager::SetRun(seed);
    peers::SetTcpDefaults(tcp);
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(std::to_string(ht.queue) + "p")));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000000)));
    NodeContainer nodes(hops + 1);
    auto positions = CreateObject<ListPositionAllocator>();
    for (uint32_t i = 0; i <= hops; ++i)
    {
        positions->Add(Vector(i * spacing, 0, 0));
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
    ht.SetPhy(phy);
    WifiHelper wifi;
    wifi.SetStandard(ht.Standard());
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 StringValue(ht.DataMode()),
                                 "ControlMode",
                                 StringValue("OfdmRate24Mbps"));
    auto devices = wifi.Install(phy, ht.Mac(), nodes);
    wifi.AssignStreams(devices, 1000);
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        auto device = DynamicCast<WifiNetDevice>(devices.Get(i));
        device->GetRemoteStationManager()->AddBasicMode(WifiMode("OfdmRate24Mbps"));
        ht.Configure(device);
    }
    peers::FrameCounter frames;
    frames.Watch(devices);

    InternetStackHelper internet;
    Ipv4StaticRoutingHelper routing;
    internet.SetRoutingHelper(routing);
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes);
    Ipv4AddressHelper address;
    address.SetBase("10.0.0.0", "255.255.255.0");
    auto interfaces = address.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    NeighborCacheHelper().PopulateNeighborCache(interfaces);
    for (uint32_t i = 0; i <= hops; ++i)
    {
        auto table = routing.GetStaticRouting(nodes.Get(i)->GetObject<Ipv4>());
        if (i < hops)
        {
            table->AddHostRouteTo(interfaces.GetAddress(hops), interfaces.GetAddress(i + 1), 1);
        }
        if (i > 0)
        {
            table->AddHostRouteTo(interfaces.GetAddress(0), interfaces.GetAddress(i - 1), 1);
        }
    }

    peers::Flows flows(stop);
    flows.AddBulk(nodes.Get(0), nodes.Get(hops), interfaces.GetAddress(hops), tcp.segment, start);
    peers::RunAndReport(stop, frames, [&] { return flows.Goodput(); });
    return 0;
}
