//! Reception by distance, without power.

/// A disc model: reception depends only on distance.
///
/// It computes no power, so it is not a [`super::Propagation`]: the medium compares distances, and any overlapping
/// transmission within `carrier_sense` of a receiver destroys what the station receives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Frames are decoded up to this distance, in metres.
    pub receive: f64,
    /// Transmissions are sensed, and destroy other frames, up to this distance, in metres; not less than `receive`.
    pub carrier_sense: f64,
}

impl Range {
    /// Whether a frame can be decoded over `distance_squared` m².
    pub fn is_received(&self, distance_squared: f64) -> bool {
        distance_squared <= self.receive * self.receive
    }

    /// Whether a transmission is sensed over `distance_squared` m².
    pub fn is_sensed(&self, distance_squared: f64) -> bool {
        distance_squared <= self.carrier_sense * self.carrier_sense
    }
}

#[cfg(test)]
mod tests {
    use super::super::Position;
    use super::*;

    #[test]
    fn the_edges_belong_to_the_discs() {
        let range = Range { receive: 250.0, carrier_sense: 550.0 };
        for (metres, received, sensed) in
            [(0.0, true, true), (250.0, true, true), (250.1, false, true), (550.0, false, true), (550.1, false, false)]
        {
            let squared = Position::default().distance_squared(Position::on_ground(metres, 0.0));
            assert_eq!((range.is_received(squared), range.is_sensed(squared)), (received, sensed), "{metres} m");
        }
    }
}
