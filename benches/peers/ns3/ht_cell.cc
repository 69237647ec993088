// A saturated cell of 802.11n, 802.11ac or 802.11ax in AC_BE: `stations` senders evenly around one sink, their queues never empty.
#include "cell.h"

int
main(int argc, char** argv)
{
    using namespace ns3;
    uint32_t stations = 20;
    peers::CellOptions options;
    peers::HtOptions ht;
    CommandLine line(__FILE__);
    line.AddValue("stations", "saturated senders around the sink", stations);
    options.AddTo(line);
    ht.AddTo(line);
    line.Parse(argc, argv);
    if (stations == 0)
    {
        std::cerr << "stations: 0 is less than 1\n";
        return 2;
    }

    options.ht = ht;
    peers::Cell cell(options, stations, ht.Mac());
    for (uint32_t i = 1; i <= stations; ++i)
    {
        // What is on the air stays in the queue until it is acknowledged: as much again has to wait.
        cell.AddSender(cell.Mac(i)->GetTxopQueue(AC_BE), ht.ampdu > 0 ? 2 * ht.window : 4);
    }
    cell.Run();
    return 0;
}
