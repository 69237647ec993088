// Nodes with the 914 MHz DSSS radio of ns-2's defaults, with bulk TCP NewReno flows or even UDP ones: what the string, the grid
// and the roaming nodes have in common.
#pragma once

#include "dsss_reception.h"
#include "flows.h"
#include "report.h"
#include "tcp.h"

#include "ns3/aodv-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"

#include <cmath>
#include <deque>
#include <string>

namespace peers
{

/// Options of the command line, with the values that a plain run uses.
struct MeshOptions : TcpOptions
{
    bool rts = false;              ///< RTS/CTS before every unicast data frame.
    std::string reception = "sinr"; ///< `sinr`, or `first-come` to imitate ns-2.
    double capture = 0;            ///< dB above the sum of the rest throughout that a frame must have, and that are
                                   ///< enough; 0: by error rates and ns-3's own preamble detection.
    std::string errors = "ns-3";   ///< Error rates of DSSS: `ns-3`, or `coherent` for those of coherent detection.
    double noiseFigure = 7;        ///< Of a receiver in dB; the noise is that in ns-3's 22 MHz.
    double preambleTime = 4e-6;    ///< When a preamble is found or not, in seconds; the standard's aCCATime is 15 us.
    std::string controlRate = "1"; ///< Rate of RTS in Mb/s. An ACK goes at 2 Mb/s in any case.
    double hostDelay = 0;          ///< From the MAC to IP, in seconds, in every node.
    std::string routing = "static"; ///< `static`, or `aodv` as in ns-2: no hellos, broken links told by the MAC.
    double start = 10;             ///< Start of the flows in seconds.
    double stop = 110;             ///< End of the flows and of the run in seconds.
    uint32_t seed = 1;             ///< Run number of the random streams.

    /// Enters the options in a command line.
    void AddTo(ns3::CommandLine& line)
    {
        TcpOptions::AddTo(line);
        line.AddValue("rts", "RTS/CTS before unicast data", rts);
        line.AddValue("reception", "sinr or first-come", reception);
        line.AddValue("capture", "dB above the sum of the rest that a frame needs; 0: by error rates", capture);
        line.AddValue("errors", "error rates of DSSS, ns-3 or coherent", errors);
        line.AddValue("noise-figure", "of a receiver, dB", noiseFigure);
        line.AddValue("preamble-time", "from a frame's start until its preamble is found or not, s", preambleTime);
        line.AddValue("control-rate", "of RTS frames, 1 or 2 Mb/s", controlRate);
        line.AddValue("host-delay", "from the MAC to IP, s", hostDelay);
        line.AddValue("routing", "static or aodv", routing);
        line.AddValue("start", "start of the flows, s", start);
        line.AddValue("stop", "end of the flows and of the run, s", stop);
        line.AddValue("seed", "run number of the random streams", seed);
    }
};

/// One bulk flow over TCP, by the indices of its end points.
struct MeshFlow
{
    uint32_t from;
    uint32_t to;
};

/// One flow of packets at even times over UDP, from `start` seconds on.
struct EvenFlow
{
    uint32_t from;
    uint32_t to;
    double start;
    uint32_t payload; ///< Bytes.
    double interval;  ///< Seconds.
};

/// Nodes, radios, routes and flows.
class Mesh
{
  public:
    Mesh(const MeshOptions& options, const std::vector<ns3::Vector>& positions, const std::vector<MeshFlow>& flows)
        : m_options(options),
          m_positions(positions),
          m_flows(options.stop)
    {
        SetTcpDefaults(options);
        m_nodes.Create(positions.size());
        PlaceNodes();
        Install();
        for (const MeshFlow& flow : flows)
        {
            if (options.routing == "static")
            {
                AddRoutesTo(flow.to);
                AddRoutesTo(flow.from);
            }
            AddFlow(flow);
        }
    }

    /// `count` nodes that move as a file of ns-2's `setdest` says.
    Mesh(const MeshOptions& options, uint32_t count, const std::string& movement, const std::vector<EvenFlow>& flows)
        : m_options(options),
          m_flows(options.stop)
    {
        m_nodes.Create(count);
        ns3::Ns2MobilityHelper(movement).Install();
        Install();
        for (const EvenFlow& flow : flows)
        {
            AddFlow(flow);
        }
    }

    /// Runs it and prints the report.
    void Run()
    {
        RunAndReport(m_options.stop, m_frames, [this] { return m_flows.Goodput(); });
    }

  private:
    /// Thresholds at 250 m and 550 m under two-ray ground with 24.5 dBm at 914 MHz, in dBm.
    static constexpr double DECODE = -64.37;
    static constexpr double SENSE = -78.07;
    static constexpr double RANGE = 250;

    void PlaceNodes()
    {
        using namespace ns3;
        auto allocator = CreateObject<ListPositionAllocator>();
        for (const Vector& position : m_positions)
        {
            allocator->Add(position);
        }
        MobilityHelper mobility;
        mobility.SetPositionAllocator(allocator);
        mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
        mobility.Install(m_nodes);
    }

    /// All that is on a node but its place and its flows.
    void Install()
    {
        ns3::RngSeedManager::SetRun(m_options.seed);
        InstallRadios();
        InstallInternet();
    }

    void InstallRadios()
    {
        using namespace ns3;
        // 802.11-1999, 9.2.4: attempts at frames up to the RTS threshold and above it.
        Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(7));
        Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", UintegerValue(4));
        Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize("50p")));
        // The default drops what has waited for half a second.
        Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000000)));

        YansWifiChannelHelper channel;
        channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
        channel.AddPropagationLoss("ns3::TwoRayGroundPropagationLossModel",
                                   "Frequency",
                                   DoubleValue(914e6),
                                   "HeightAboveZ",
                                   DoubleValue(1.5));

        YansWifiPhyHelper phy;
        phy.SetChannel(channel.Create());
        phy.Set("TxPowerStart", DoubleValue(24.5));
        phy.Set("TxPowerEnd", DoubleValue(24.5));
        phy.Set("TxGain", DoubleValue(0));
        phy.Set("RxGain", DoubleValue(0));
        phy.Set("RxNoiseFigure", DoubleValue(m_options.noiseFigure));
        phy.Set("CcaEdThreshold", DoubleValue(SENSE));
        phy.Set("RxSensitivity", DoubleValue(SENSE));
        // 4 dB is ns-3's own rule: a preamble is found wherever it stands out, also amid a weaker frame. A node at 200 m
        // (-60.5 dBm) is 17.6 dB above the weakest signal that is sensed and 33 dB above the noise, so a threshold of
        // 20 dB loses every frame that begins amid another one that is sensed: ns-2's first come.
        const double own = m_options.capture > 0 ? m_options.capture : 4;
        phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel",
                                      "Threshold",
                                      DoubleValue(m_options.reception == "first-come" ? 20 : own),
                                      "MinimumRssi",
                                      DoubleValue(DECODE));

        captureThreshold = m_options.capture;
        coherentDetection = m_options.errors == "coherent";
        NS_ABORT_MSG_UNLESS(coherentDetection || m_options.errors == "ns-3", "errors: neither ns-3 nor coherent");
        preambleTime = m_options.preambleTime;

        WifiHelper wifi;
        wifi.SetStandard(WIFI_STANDARD_80211b);
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                     "DataMode",
                                     StringValue("DsssRate2Mbps"),
                                     "ControlMode",
                                     StringValue("DsssRate" + m_options.controlRate + "Mbps"),
                                     "NonUnicastMode",
                                     StringValue("DsssRate1Mbps"),
                                     "RtsCtsThreshold",
                                     UintegerValue(m_options.rts ? 0 : 65535));
        WifiMacHelper mac;
        mac.SetType("ns3::AdhocWifiMac");
        m_devices = wifi.Install(phy, mac, m_nodes);
        wifi.AssignStreams(m_devices, 1000);
        m_frames.Watch(m_devices);
    }

    void InstallInternet()
    {
        using namespace ns3;
        InternetStackHelper internet;
        if (m_options.routing == "aodv")
        {
            AodvHelper aodv;
            aodv.Set("EnableHello", BooleanValue(false));
            internet.SetRoutingHelper(aodv);
        }
        else
        {
            internet.SetRoutingHelper(Ipv4StaticRoutingHelper());
        }
        internet.SetIpv6StackInstall(false);
        internet.Install(m_nodes);
        Ipv4AddressHelper address;
        address.SetBase("10.0.0.0", "255.255.255.0");
        m_interfaces = address.Assign(m_devices);
        // Assigning addresses puts an FqCoDel queue above the device; the interface queue is to be the only one.
        TrafficControlHelper().Uninstall(m_devices);
        // The variants that take a channel or nothing crash where IPv6 is not installed.
        NeighborCacheHelper().PopulateNeighborCache(m_interfaces);
        if (m_options.hostDelay > 0)
        {
            for (uint32_t i = 0; i < m_devices.GetN(); ++i)
            {
                m_devices.Get(i)->SetReceiveCallback(MakeCallback(&Mesh::HandUpLater, this));
            }
        }
    }

    /// Hands a packet to IP after the delay of the host. What IP sends in answer otherwise comes to the MAC at the very
    /// instant at which the reception ends.
    bool HandUpLater(ns3::Ptr<ns3::NetDevice> device,
                     ns3::Ptr<const ns3::Packet> packet,
                     uint16_t protocol,
                     const ns3::Address& from)
    {
        using namespace ns3;
        Simulator::Schedule(Seconds(m_options.hostDelay),
                            &TrafficControlLayer::Receive,
                            device->GetNode()->GetObject<TrafficControlLayer>(),
                            device,
                            packet,
                            protocol,
                            from,
                            device->GetAddress(),
                            NetDevice::PACKET_HOST);
        return true;
    }

    /// Enters, in every node that reaches it, a host route to `destination` by the fewest hops.
    void AddRoutesTo(uint32_t destination)
    {
        std::vector<bool> reached(m_positions.size(), false);
        std::deque<uint32_t> frontier{destination};
        reached[destination] = true;
        ns3::Ipv4StaticRoutingHelper routing;
        while (!frontier.empty())
        {
            const uint32_t next = frontier.front();
            frontier.pop_front();
            for (uint32_t node = 0; node < m_positions.size(); ++node)
            {
                if (reached[node] || ns3::CalculateDistance(m_positions[node], m_positions[next]) > RANGE)
                {
                    continue;
                }
                reached[node] = true;
                frontier.push_back(node);
                routing.GetStaticRouting(m_nodes.Get(node)->GetObject<ns3::Ipv4>())
                    ->AddHostRouteTo(m_interfaces.GetAddress(destination), m_interfaces.GetAddress(next), 1);
            }
        }
    }

    void AddFlow(const EvenFlow& flow)
    {
        const auto [from, to, start, payload, interval] = flow;
        m_flows.AddEven(m_nodes.Get(from), m_nodes.Get(to), m_interfaces.GetAddress(to), payload, interval, start);
    }

    void AddFlow(const MeshFlow& flow)
    {
        const auto [from, to] = flow;
        m_flows.AddBulk(m_nodes.Get(from), m_nodes.Get(to), m_interfaces.GetAddress(to), m_options.segment, m_options.start);
    }

    MeshOptions m_options;
    std::vector<ns3::Vector> m_positions;
    ns3::NodeContainer m_nodes;
    ns3::NetDeviceContainer m_devices;
    ns3::Ipv4InterfaceContainer m_interfaces;
    Flows m_flows;
    FrameCounter m_frames;
};

} // namespace peers
