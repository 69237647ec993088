// An 802.11a cell under DCF: `stations` senders evenly around one sink, their queues never empty.
#include "cell.h"

int
main(int argc, char** argv)
{
    using namespace ns3;
    uint32_t stations = 10;
    peers::CellOptions options;
    CommandLine line(__FILE__);
    line.AddValue("stations", "saturated senders around the sink", stations);
    options.AddTo(line);
    line.Parse(argc, argv);
    if (stations == 0)
    {
        std::cerr << "stations: 0 is less than 1\n";
        return 2;
    }

    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    peers::Cell cell(options, stations, mac);
    for (uint32_t i = 1; i <= stations; ++i)
    {
        cell.AddSender(cell.Mac(i)->GetTxop()->GetWifiMacQueue(), 4);
    }
    cell.Run();
    return 0;
}
