//! The part of the [contract of every machine](crate) that a debug build can check: outputs are drained before the next input.

/// Tells in debug builds whether a machine has been drained since its last input. Without debug assertions it is empty, and checks
/// nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Drained {
    #[cfg(debug_assertions)]
    has_input: bool,
}

impl Drained {
    /// An input comes from outside: a packet, or a timer.
    ///
    /// # Panics
    ///
    /// In debug builds, if the machine has not been drained since the last one.
    #[inline]
    #[track_caller]
    pub(crate) fn on_input(&mut self) {
        #[cfg(debug_assertions)]
        assert_drained(!core::mem::replace(&mut self.has_input, true));
    }

    /// The machine has said that nothing is left.
    #[inline]
    pub(crate) fn on_drained(&mut self) {
        #[cfg(debug_assertions)]
        {
            self.has_input = false;
        }
    }
}

/// The same for a machine that knows by itself whether it is drained.
///
/// # Panics
///
/// In debug builds, if it is not.
#[inline]
#[track_caller]
pub(crate) fn assert_drained(is_drained: bool) {
    debug_assert!(
        is_drained,
        "outputs are left: drain poll_output before the next packet, message or timer is handled"
    );
}

#[cfg(all(test, debug_assertions))]
mod tests;
