// What decides over a frame at 1 or 2 Mb/s in place of ns-3's own error rates of DSSS and its time to find a preamble.
#pragma once

namespace peers
{

/// How many dB above the sum of the rest a frame at 1 or 2 Mb/s must be throughout to be received; 0: by error rates.
inline double captureThreshold = 0;

/// Whether the error rates are those of coherent detection instead of ns-3's own.
inline bool coherentDetection = false;

/// When, from a frame's start, its preamble is found or not, in seconds.
inline double preambleTime = 4e-6;

} // namespace peers
