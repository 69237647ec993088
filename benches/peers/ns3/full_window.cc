// Repairs a fault of ns-3.37 from outside: where the data in flight and behind a loss fill the receiver's window exactly,
// TcpTxBuffer::NextSeg offers a segment of no bytes instead of none, and TcpSocketBase dereferences a null pointer when
// it tries to send that one. Whole-segment windows on a lossy path meet this within seconds. Later releases are repaired.
//
// The program's own definition of the symbol takes precedence over the library's, which it asks and corrects.
#include "ns3/tcp-tx-buffer.h"

#include <cstdlib>
#include <dlfcn.h>
#include <iostream>

namespace ns3
{

bool
TcpTxBuffer::NextSeg(SequenceNumber32* seq, SequenceNumber32* seqHigh, bool isRecovery) const
{
    using Original = bool (*)(const TcpTxBuffer*, SequenceNumber32*, SequenceNumber32*, bool);
    static const auto original = reinterpret_cast<Original>(
        dlsym(RTLD_NEXT, "_ZNK3ns311TcpTxBuffer7NextSegEPNS_14SequenceNumberIjiEES3_b"));
    if (original == nullptr)
    {
        std::cerr << "this ns-3 has no TcpTxBuffer::NextSeg of 3.37's form\n";
        std::exit(1);
    }
    return original(this, seq, seqHigh, isRecovery) && *seqHigh > *seq;
}

} // namespace ns3
