// A reception rule of a plain threshold in place of ns-3's error rates of DSSS.
#pragma once

namespace peers
{

/// How many dB above the sum of the rest a frame at 1 or 2 Mb/s must be throughout to be received; 0: ns-3's own rates.
inline double captureThreshold = 0;

} // namespace peers
