//! Numbers in byte slices.

/// The `N` bytes at `at`. Panics if they aren't all there.
pub(crate) fn array<const N: usize>(octets: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&octets[at..at + N]);
    array
}

/// Writes `field` at `at`. Panics if there is no room.
pub(crate) fn put<const N: usize>(octets: &mut [u8], at: usize, field: [u8; N]) {
    octets[at..at + N].copy_from_slice(&field);
}
