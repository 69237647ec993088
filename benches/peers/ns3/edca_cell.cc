// A saturated 802.11a cell with two access categories: `voice` senders of AC_VO and `effort` senders of AC_BE around one sink.
#include "cell.h"

#include "ns3/qos-txop.h"

int
main(int argc, char** argv)
{
    using namespace ns3;
    uint32_t voice = 2;
    uint32_t effort = 2;
    bool txop = false;
    peers::CellOptions options;
    options.radius = 0.1;
    CommandLine line(__FILE__);
    line.AddValue("voice", "saturated senders of AC_VO", voice);
    line.AddValue("effort", "saturated senders of AC_BE", effort);
    line.AddValue("txop", "AC_VO has a TXOP limit of 1504 us", txop);
    options.AddTo(line);
    line.Parse(argc, argv);
    const uint32_t stations = voice + effort;

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
    peers::Cell cell(options, stations, mac);
    for (uint32_t i = 0; i <= stations; ++i)
    {
        cell.Mac(i)->GetQosTxop(AC_VO)->SetTxopLimit(MicroSeconds(txop ? 1504 : 0));
        cell.Mac(i)->GetQosTxop(AC_BE)->SetTxopLimit(MicroSeconds(0));
    }
    for (uint32_t i = 1; i <= stations; ++i)
    {
        const AcIndex category = i <= voice ? AC_VO : AC_BE;
        // The device maps the three high bits of TOS to the user priority: 6 is voice, 0 is best effort. More than a TXOP
        // holds waits.
        cell.AddSender(cell.Mac(i)->GetTxopQueue(category), 12, category == AC_VO ? 0xc0 : 0);
    }
    cell.Run();
    return 0;
}
