//! Which device stores which block of which clip.

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::streaming::placement::{Clip, MAX_DEVICES, Map, Placement, Policy, place};
use hopcast_protocols::time::Duration;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Who stores what.
#[pyclass(frozen, name = "Placement", module = "hopcast._core")]
pub(crate) struct PyPlacement {
    map: Map,
    clips: Vec<Clip>,
    placement: Placement,
}

/// Places blocks on devices, which have numbers from 0. A clip is the number of its blocks, the bytes and the seconds of each, and its
/// popularity. `copies` belongs to some policies, `hop_time` in seconds to others. Raises ValueError for what can't be placed.
#[pyfunction]
pub(crate) fn place_blocks(
    devices: usize,
    links: Vec<(usize, usize)>,
    clips: Vec<(u32, u64, f64, f64)>,
    policy: &str,
    copies: u32,
    hop_time: f64,
    seed: u64,
) -> PyResult<PyPlacement> {
    if devices > MAX_DEVICES {
        return Err(PyValueError::new_err(format!("there are {devices} devices; at most {MAX_DEVICES} are possible")));
    }
    let hop_time = Duration::from_secs_f64(hop_time);
    let policy = match policy {
        "full" => Policy::Full,
        "uniform" => Policy::Uniform(copies),
        "proportional" => Policy::Proportional(copies),
        "square-root" => Policy::SquareRoot(copies),
        "near" => Policy::Near(hop_time),
        "anywhere" => Policy::Anywhere(hop_time),
        _ => return Err(PyValueError::new_err(format!("there is no policy {policy:?}"))),
    };
    let clips: Vec<Clip> = clips
        .into_iter()
        .map(|(blocks, block_size, seconds, popularity)| Clip {
            blocks,
            block_size,
            block_time: Duration::from_secs_f64(seconds),
            popularity,
        })
        .collect();
    let map = Map::new(devices, &links);
    let mut random = Stream::new(seed, Purpose::CloudPlacement, 0, 0);
    let placement =
        place(&clips, &map, policy, &mut random).map_err(|problem| PyValueError::new_err(problem.to_string()))?;
    Ok(PyPlacement { map, clips, placement })
}

#[pymethods]
impl PyPlacement {
    /// The devices that store each block of a clip.
    fn holders(&self, clip: usize) -> Vec<Vec<usize>> {
        self.placement.holders(clip).to_vec()
    }

    /// Bytes at each device.
    fn stored(&self) -> Vec<u64> {
        self.placement.stored().to_vec()
    }

    /// The share of the storage of full copies that is saved.
    fn saved(&self) -> f64 {
        self.placement.saved(&self.clips)
    }

    /// For each device: seconds until the start of a clip, hiccups and seconds stalled, if a block takes `hop_time` over each hop.
    fn displays(&self, py: Python<'_>, clip: usize, hop_time: f64) -> Vec<Option<(f64, u32, f64)>> {
        let hop_time = Duration::from_secs_f64(hop_time);
        py.detach(|| {
            let seen = |device| self.placement.display(&self.map, device, clip, &self.clips[clip], hop_time);
            let plain = |seen: hopcast_protocols::streaming::placement::Display| {
                (seen.start_up.as_secs_f64(), seen.hiccups, seen.stalled.as_secs_f64())
            };
            (0..self.map.devices()).map(|device| seen(device).map(plain)).collect()
        })
    }
}
