// Radios of 802.11n, 802.11ac and 802.11ax: what cells and strings of them have in common.
#pragma once

#include "ns3/core-module.h"
#include "ns3/wifi-module.h"

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

namespace peers
{

/// Options of the command line, with the values that a plain run uses.
struct HtOptions
{
    std::string standard = "ax"; ///< n, ac or ax, at 5 GHz.
    uint32_t width = 80;         ///< Of the channel, MHz.
    uint32_t mcs = 9;            ///< For each stream.
    uint32_t streams = 2;        ///< Spatial streams, and antennas.
    uint32_t ampdu = 6500631;    ///< Longest A-MPDU in bytes; 0: none.
    uint32_t window = 256;       ///< Of a block acknowledgment agreement of ax, in MPDUs; others have 64.
    uint32_t queue = 1000;       ///< Packets in an interface queue.
    bool explicitBar = true;     ///< Whether a BlockAckReq follows a missed block acknowledgment.
    uint32_t rts = 4692480;      ///< Longest frame in bytes that is sent without RTS; the default is the most that ns-3 takes.

    /// Enters the options in a command line.
    void AddTo(ns3::CommandLine& line)
    {
        line.AddValue("standard", "n, ac or ax", standard);
        line.AddValue("width", "of the channel, MHz", width);
        line.AddValue("mcs", "of each spatial stream", mcs);
        line.AddValue("streams", "spatial streams", streams);
        line.AddValue("ampdu", "longest A-MPDU, bytes; 0: none", ampdu);
        line.AddValue("block-ack", "window of block acknowledgments of ax, MPDUs; n and ac have 64", window);
        line.AddValue("queue", "of an interface, packets", queue);
        line.AddValue("explicit-bar", "BlockAckReq after a missed block acknowledgment", explicitBar);
        line.AddValue("rts-threshold", "longest frame without RTS, bytes", rts);
    }

    /// The standard.
    ns3::WifiStandard Standard() const
    {
        const std::map<std::string, ns3::WifiStandard> standards = {{"n", ns3::WIFI_STANDARD_80211n},
                                                                    {"ac", ns3::WIFI_STANDARD_80211ac},
                                                                    {"ax", ns3::WIFI_STANDARD_80211ax}};
        const auto found = standards.find(standard);
        if (found == standards.end())
        {
            std::cerr << "standard: " << standard << " is none of n, ac, ax\n";
            std::exit(2);
        }
        return found->second;
    }

    /// Name of the rate of data frames.
    std::string DataMode() const
    {
        const std::string prefix = standard == "n" ? "HtMcs" : standard == "ac" ? "VhtMcs" : "HeMcs";
        // 802.11n counts its rates over all streams (IEEE 802.11-2020, 19.5).
        return prefix + std::to_string(standard == "n" ? mcs + 8 * (streams - 1) : mcs);
    }

    /// A MAC of QoS stations in an ad hoc network.
    ns3::WifiMacHelper Mac() const
    {
        using namespace ns3;
        WifiMacHelper mac;
        mac.SetType("ns3::AdhocWifiMac",
                    "QosSupported",
                    BooleanValue(true),
                    "BE_MaxAmpduSize",
                    UintegerValue(ampdu),
                    "BE_MaxAmsduSize",
                    UintegerValue(0));
        return mac;
    }

    /// What has to be known of radios before they are made.
    void SetPhy(ns3::YansWifiPhyHelper& phy) const
    {
        using namespace ns3;
        // Number 0: the first channel of this width.
        Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(rts));
        Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck", BooleanValue(explicitBar));
        phy.Set("ChannelSettings", StringValue("{0, " + std::to_string(width) + ", BAND_5GHZ, 0}"));
        phy.Set("Antennas", UintegerValue(streams));
        phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(streams));
        phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(streams));
    }

    /// What is set where a radio is there.
    void Configure(ns3::Ptr<ns3::WifiNetDevice> device) const
    {
        using namespace ns3;
        if (auto he = device->GetHeConfiguration())
        {
            he->SetGuardInterval(NanoSeconds(800));
            he->SetMpduBufferSize(window);
        }
    }
};

} // namespace peers
