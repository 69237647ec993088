// What every ns-3 peer program measures and prints: one JSON object on standard output.
#pragma once

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/wifi-module.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <vector>

namespace peers
{

/// Counts PHY transmissions of all kinds: RTS, CTS, ACK, data and broadcasts.
class FrameCounter
{
  public:
    /// Hooks the PHY of every Wi-Fi device, without a context string, which would cost more than the count.
    void Watch(const ns3::NetDeviceContainer& devices)
    {
        for (auto device = devices.Begin(); device != devices.End(); ++device)
        {
            auto wifi = ns3::DynamicCast<ns3::WifiNetDevice>(*device);
            wifi->GetPhy()->TraceConnectWithoutContext("PhyTxBegin",
                                                       ns3::MakeCallback(&FrameCounter::OnTransmission, this));
        }
    }

    /// Frames whose transmission has begun.
    uint64_t Sent() const
    {
        return m_sent;
    }

  private:
    void OnTransmission(ns3::Ptr<const ns3::Packet>, double)
    {
        ++m_sent;
    }

    uint64_t m_sent = 0;
};

/// Runs the simulation until `stop` seconds and prints the report. `goodput` is asked after the run for the bit/s of each
/// flow.
template <typename Goodput>
void
RunAndReport(double stop, const FrameCounter& frames, Goodput goodput)
{
    const auto begin = std::chrono::steady_clock::now();
    ns3::Simulator::Stop(ns3::Seconds(stop));
    ns3::Simulator::Run();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;

    std::printf("{\"goodput_bps\": [");
    const std::vector<double> flows = goodput();
    for (std::size_t i = 0; i < flows.size(); ++i)
    {
        std::printf("%s%.3f", i == 0 ? "" : ", ", flows[i]);
    }
    std::printf("], \"frames_sent\": %llu, \"wall_s\": %.6f, "
                "\"simulated_s\": %.6f, \"events\": %llu}\n",
                static_cast<unsigned long long>(frames.Sent()),
                wall.count(),
                stop,
                static_cast<unsigned long long>(ns3::Simulator::GetEventCount()));
    std::fflush(stdout);
    ns3::Simulator::Destroy();
}

} // namespace peers
