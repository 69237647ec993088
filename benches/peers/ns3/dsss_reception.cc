// An error model set from outside is not asked about DSSS, and the time to find a preamble is a constant. The program's
// own definitions of the symbols take precedence over the library's, and decide by a threshold or by error rates of
// coherent detection where that is asked for.
//
// ns-3 compares each symbol with the one before it, and gives a signal in its 22 MHz the gain of 22 for a symbol of a
// microsecond, over noise and over other signals.
#include "dsss_reception.h"

#include "ns3/dsss-error-rate-model.h"
#include "ns3/wifi-phy.h"

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

/// Energy of a symbol of eleven chips over the density of noise and interference, where the ratio is that of powers: an
/// asynchronous signal of the same chip rate counts like noise of its power in 3/2 of the chip rate, 16.5 MHz
/// (M. B. Pursley, IEEE Trans. Communications 25(8), 1977, equation 17, for rectangular chips).
constexpr double SYMBOL_GAIN = 1.5 * 11;

/// Chance that `decisions` antipodal ones, each with `energy` over the noise density, are all right: each errs with
/// Q(sqrt(2E/N0)) (J. G. Proakis, "Digital Communications", 4th edition, equation 5.2-5).
double
Coherent(double energy, uint64_t decisions)
{
    const double wrong = 0.5 * std::erfc(std::sqrt(energy));
    return std::exp(static_cast<double>(decisions) * std::log1p(-wrong));
}

/// `bitsPerSymbol` share the symbol's energy.
double
Decide(double sinr, uint64_t bits, double bitsPerSymbol, SuccessRate original)
{
    if (peers::captureThreshold > 0)
    {
        return 10 * std::log10(sinr) >= peers::captureThreshold ? 1 : 0;
    }
    if (peers::coherentDetection)
    {
        return Coherent(SYMBOL_GAIN * sinr / bitsPerSymbol, bits);
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
    return Decide(sinr, nbits, 1, original);
}

double
DsssErrorRateModel::GetDsssDqpskSuccessRate(double sinr, uint64_t nbits)
{
    static const auto original = Original("_ZN3ns318DsssErrorRateModel23GetDsssDqpskSuccessRateEdm");
    return Decide(sinr, nbits, 2, original);
}

Time
WifiPhy::GetPreambleDetectionDuration()
{
    return Seconds(peers::preambleTime);
}

} // namespace ns3
