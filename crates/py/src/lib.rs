//! The Python module `hopcast._core`: conversion, nothing else. People import `hopcast`.

mod dictionary;
mod error;
mod examples;
mod extensions;
mod live;
mod meter;
mod models;
mod placement;
mod result;
mod run;
mod scenario;
#[cfg(target_os = "linux")]
mod stream;

/// The simulator. Conversion only: what people use is `hopcast`.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use super::dictionary::results_schema;
    #[pymodule_export]
    use super::examples::examples;
    #[pymodule_export]
    use super::extensions::{PyStream, PyStreams};
    #[pymodule_export]
    use super::live::live;
    #[pymodule_export]
    use super::models::{
        frame_error_rates, frame_fading, gilbert_elliott_states, link_shadowing, log_distance_gains, path_fading,
        two_ray_interference_gains,
    };
    #[pymodule_export]
    use super::placement::{PyPlacement, place_blocks};
    #[pymodule_export]
    use super::result::{ArrowTable, PyRunResult};
    #[pymodule_export]
    use super::run::{capture_size, run};
    #[pymodule_export]
    use super::scenario::{PyScenario, json_schema};

    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::stream::{StreamReceiver, StreamSender, split_address};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
