//! Traces of video.

#![no_main]

use hopcast_sim::video_trace::VideoTrace;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(trace) = VideoTrace::parse(text, "fuzz") {
        let _ = (trace.period(), trace.statistics());
    }
});
