// A house: an 802.11g access point with four stations under shadowing that is drawn for each frame, and two wired hosts in a
// row behind it. An even UDP flow and a bulk TCP download from outside, a game in both directions.
#include "flows.h"
#include "report.h"
#include "tcp.h"

#include "ns3/mobility-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"

#include <cmath>

using namespace ns3;

namespace
{

constexpr uint32_t STATIONS = 4;

/// The nodes, their radios, wires and flows.
class House
{
  public:
    House(double radius, double start, double stop)
        : m_start(start),
          m_stop(stop),
          m_flows(stop)
    {
        m_ap.Create(1);
        m_stations.Create(STATIONS);
        m_wired.Create(2);
        Place(radius);
        InstallRadios();
        InstallInternet();
    }

    /// Packets of `payload` bytes at even times.
    void AddEvenFlow(Ptr<Node> from, Ptr<Node> to, uint32_t payload, double interval)
    {
        m_flows.AddEven(from, to, AddressOf(to), payload, interval, m_start);
    }

    void AddDownload(Ptr<Node> from, Ptr<Node> to, uint32_t segment)
    {
        m_flows.AddBulk(from, to, AddressOf(to), segment, m_start);
    }

    Ptr<Node> Station(uint32_t i) const
    {
        return m_stations.Get(i);
    }

    Ptr<Node> Wired(uint32_t i) const
    {
        return m_wired.Get(i);
    }

    /// Runs it and prints the report.
    void Run()
    {
        peers::RunAndReport(m_stop, m_frames, [this] { return m_flows.Goodput(); });
    }

  private:
    void Place(double radius)
    {
        auto positions = CreateObject<ListPositionAllocator>();
        positions->Add(Vector(0, 0, 0));
        for (uint32_t i = 0; i < STATIONS; ++i)
        {
            const double angle = 2 * M_PI * i / STATIONS;
            positions->Add(Vector(radius * std::cos(angle), radius * std::sin(angle), 0));
        }
        MobilityHelper mobility;
        mobility.SetPositionAllocator(positions);
        mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
        mobility.Install(m_ap);
        mobility.Install(m_stations);
    }

    void InstallRadios()
    {
        Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(4));
        Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", UintegerValue(4));
        Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize("50p")));
        // The default drops what has waited for half a second.
        Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000000)));

        YansWifiChannelHelper channel;
        channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
        // Free space at 1 m and 2.437 GHz.
        channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel",
                                   "Exponent",
                                   DoubleValue(4),
                                   "ReferenceLoss",
                                   DoubleValue(40.18));
        channel.AddPropagationLoss("ns3::RandomPropagationLossModel",
                                   "Variable",
                                   StringValue("ns3::NormalRandomVariable[Mean=0|Variance=81|Bound=100]"));
        YansWifiPhyHelper phy;
        phy.SetChannel(channel.Create());
        phy.Set("TxPowerStart", DoubleValue(20));
        phy.Set("TxPowerEnd", DoubleValue(20));

        WifiHelper wifi;
        wifi.SetStandard(WIFI_STANDARD_80211g);
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                     "DataMode",
                                     StringValue("ErpOfdmRate54Mbps"),
                                     "ControlMode",
                                     StringValue("ErpOfdmRate24Mbps"));
        WifiMacHelper mac;
        const Ssid ssid("house");
        mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid), "QosSupported", BooleanValue(false));
        m_radios.Add(wifi.Install(phy, mac, m_ap));
        // A station that has missed beacons keeps its association: it has nowhere else to go.
        mac.SetType("ns3::StaWifiMac",
                    "Ssid",
                    SsidValue(ssid),
                    "QosSupported",
                    BooleanValue(false),
                    "MaxMissedBeacons",
                    UintegerValue(1000000));
        m_radios.Add(wifi.Install(phy, mac, m_stations));
        m_frames.Watch(m_radios);
    }

    void InstallInternet()
    {
        InternetStackHelper internet;
        internet.SetIpv6StackInstall(false);
        internet.Install(m_ap);
        internet.Install(m_stations);
        internet.Install(m_wired);

        Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
        const auto interfaces = address.Assign(m_radios);
        TrafficControlHelper().Uninstall(m_radios);
        NeighborCacheHelper().PopulateNeighborCache(interfaces);
        Connect(m_ap.Get(0), m_wired.Get(0), "10ms", address);
        Connect(m_wired.Get(0), m_wired.Get(1), "30ms", address);
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    }

    /// A wire of 100 Mb/s with a queue of 140 packets at either end.
    static void Connect(Ptr<Node> a, Ptr<Node> b, const std::string& delay, Ipv4AddressHelper& address)
    {
        PointToPointHelper wire;
        wire.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
        wire.SetChannelAttribute("Delay", StringValue(delay));
        wire.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("140p"));
        const NetDeviceContainer devices = wire.Install(a, b);
        address.NewNetwork();
        address.Assign(devices);
        TrafficControlHelper().Uninstall(devices);
    }

    static Ipv4Address AddressOf(Ptr<Node> node)
    {
        return node->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
    }

    double m_start;
    double m_stop;
    NodeContainer m_ap;
    NodeContainer m_stations;
    NodeContainer m_wired;
    NetDeviceContainer m_radios;
    peers::Flows m_flows;
    peers::FrameCounter m_frames;
};

} // namespace

int
main(int argc, char** argv)
{
    peers::TcpOptions tcp;
    tcp.segment = 1460;
    tcp.window = 44;
    tcp.initialWindow = 3;
    double radius = 5;
    double start = 1;
    double stop = 11;
    uint32_t seed = 1;
    CommandLine line(__FILE__);
    tcp.AddTo(line);
    line.AddValue("radius", "of the circle of stations around the access point, m", radius);
    line.AddValue("start", "start of the flows, s", start);
    line.AddValue("stop", "end of the flows and of the run, s", stop);
    line.AddValue("seed", "run number of the random streams", seed);
    line.Parse(argc, argv);
    RngSeedManager::SetRun(seed);
    peers::SetTcpDefaults(tcp);

    House house(radius, start, stop);
    house.AddEvenFlow(house.Wired(0), house.Station(0), 1000, 0.008);
    house.AddEvenFlow(house.Wired(0), house.Station(1), 100, 0.04);
    house.AddEvenFlow(house.Station(1), house.Wired(0), 100, 0.04);
    house.AddDownload(house.Wired(1), house.Station(3), tcp.segment);
    house.Run();
    return 0;
}
