// ns-3 gives DSSS the processing gain of its eleven chips, so that a frame at 2 Mb/s mostly survives another one of the
// same power; an error model set from outside is not asked about DSSS. The program's own definitions of the two
// symbols take precedence over the library's, and with a threshold set decide by that alone.
#include "capture.h"

#include "ns3/dsss-error-rate-model.h"

#include <cmath>
#include <cstdlib>
#include <dlfcn.h>
#include <iostream>

namespace
{

using SuccessRate = double (*)(double, uint64_t);

SuccessRate
Original(const char* symbol)
{
    const auto original = reinterpret_cast<SuccessRate>(dlsym(RTLD_NEXT, symbol));
    if (original == nullptr)
    {
        std::cerr << "this ns-3 has no " << symbol << "\n";
        std::exit(1);
    }
    return original;
}

double
Decide(double sinr, uint64_t bits, SuccessRate original)
{
    if (peers::captureThreshold > 0)
    {
        return 10 * std::log10(sinr) >= peers::captureThreshold ? 1 : 0;
    }
    return original(sinr, bits);
}

} // namespace

namespace ns3
{

double
DsssErrorRateModel::GetDsssDbpskSuccessRate(double sinr, uint64_t nbits)
{
    static const auto original = Original("_ZN3ns318DsssErrorRateModel23GetDsssDbpskSuccessRateEdm");
    return Decide(sinr, nbits, original);
}

double
DsssErrorRateModel::GetDsssDqpskSuccessRate(double sinr, uint64_t nbits)
{
    static const auto original = Original("_ZN3ns318DsssErrorRateModel23GetDsssDqpskSuccessRateEdm");
    return Decide(sinr, nbits, original);
}

} // namespace ns3
