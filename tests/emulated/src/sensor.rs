//! A sensor beside the arm with a serial line: the readings that it sends, and its faults.

use std::time::Duration;

use outrigger_sim::controller::Controller;
use outrigger_sim::rng::Rng;
use outrigger_sim::simulated_workpiece::{DistanceSensor, Surface, Wave};
use outrigger_sim::time::SimTime;
use outrigger_wire::sensor::{FRAME_MAX, Reading, SampleValue};

/// A function that returns the values of one reading; `None` if the sensor has no reading.
pub type Measure = Box<dyn FnMut(&Controller) -> Option<Vec<f32>>>;

/// The format of a sensor's reading on its serial line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// A reading as a line of text: `seq=N VALUE …`.
    #[default]
    Line,
    /// A reading as a binary frame with a checksum.
    Frame,
}

/// The state of the sensor's serial line to the board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Plug {
    /// The sensor is connected.
    #[default]
    In,
    /// The sensor is disconnected.
    Out,
    /// The sensor sends noise, as much as the line can carry.
    Babbling,
}

/// The number of bytes of noise at a time: about what the line carries between two readings at 115 200 Bd.
const NOISE: u64 = 64;

/// A sensor that sends readings with one to six values each.
pub struct Sensor {
    measure: Measure,
    form: Form,
    period: Duration,
    next: SimTime,
    seq: u32,
    plug: Plug,
    rng: Rng,
}

impl std::fmt::Debug for Sensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sensor").field("seq", &self.seq).field("plug", &self.plug).finish_non_exhaustive()
    }
}

impl Sensor {
    /// Creates a sensor that is read every `period`.
    #[must_use]
    pub fn new(period: Duration, measure: Measure) -> Self {
        Self {
            measure,
            form: Form::default(),
            period,
            next: SimTime::ZERO,
            seq: 0,
            plug: Plug::In,
            rng: Rng::new(1, 0x5E45),
        }
    }

    /// Creates a sensor that measures the distance to `surface` along the tool's axis \[m\].
    #[must_use]
    pub fn of_distance(surface: Surface, period: Duration, seed: u64) -> Self {
        let mut device = DistanceSensor::new(seed);
        let read = move |controller: &Controller| {
            let distance = device.read(&surface, controller.truth().tool(), controller.now())?;
            Some(vec![distance as f32])
        };
        Self::new(period, Box::new(read))
    }

    /// Returns the sensor with this format of its readings.
    #[must_use]
    pub fn writing(self, form: Form) -> Self {
        Self { form, ..self }
    }

    /// Sets the state of the sensor's serial line to the board.
    pub fn set(&mut self, plug: Plug) {
        self.plug = plug;
    }

    /// Returns the time of the sensor's next reading.
    #[must_use]
    pub fn next_event(&self) -> SimTime {
        self.next
    }

    /// Returns the bytes that the sensor puts on its line at `now`; `None` before the next reading is due, while the
    /// line is disconnected, and if there is no reading.
    pub fn send(&mut self, now: SimTime, controller: &Controller) -> Option<Vec<u8>> {
        if now < self.next {
            return None;
        }
        // A delayed sensor does not make up for missed readings.
        self.next = (self.next + self.period).max(now);
        self.seq = self.seq.wrapping_add(1);
        match self.plug {
            Plug::In => {
                let values = (self.measure)(controller)?;
                match self.form {
                    Form::Line => {
                        let values: String = values.iter().map(|value| format!(" {value:.6}")).collect();
                        Some(format!("seq={}{values}\n", self.seq).into_bytes())
                    }
                    Form::Frame => {
                        let reading = Reading { seq: self.seq, value: SampleValue::new(&values)? };
                        Some(reading.to_frame(&mut [0; FRAME_MAX]).to_vec())
                    }
                }
            }
            Plug::Out => None,
            Plug::Babbling => Some((0..NOISE).map(|_| self.rng.next_u64() as u8).collect()),
        }
    }
}

/// Returns a workpiece at `distance` \[m\] under the tool of `controller`: uneven, and heaving as a whole.
#[must_use]
pub fn workpiece(controller: &Controller, distance: f64) -> Surface {
    let tool = controller.truth().tool();
    let ([x, y, z], [ax, ay, az]) = (tool.position, tool.z_axis());
    let below = [x + distance * ax, y + distance * ay, z + distance * az];
    Surface {
        waves: vec![Wave { amplitude: 0.003, length: 0.12, direction: 0.4 }],
        heave: Some((0.008, 3.0)),
        ..Surface::plane(below, [-ax, -ay, -az])
    }
}

#[cfg(test)]
mod tests {
    use outrigger_sim::controller::Options;

    use super::*;

    fn controller() -> Controller {
        Controller::new(Options::default()).unwrap()
    }

    fn line(sensor: &mut Sensor, millis: u64) -> Option<String> {
        let bytes = sensor.send(SimTime::from_millis(millis), &controller())?;
        Some(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn a_reading_is_a_line_with_its_number_and_what_is_measured() {
        let mut sensor = Sensor::new(Duration::from_millis(2), Box::new(|_| Some(vec![0.05, -1.0])));
        assert_eq!(line(&mut sensor, 0).unwrap(), "seq=1 0.050000 -1.000000\n");
        assert_eq!(line(&mut sensor, 1), None);
        assert_eq!(line(&mut sensor, 2).unwrap(), "seq=2 0.050000 -1.000000\n");
    }

    #[test]
    fn a_reading_as_a_frame_ends_with_a_zero_and_holds_the_same() {
        let mut sensor =
            Sensor::new(Duration::from_millis(2), Box::new(|_| Some(vec![0.05, -1.0]))).writing(Form::Frame);
        let bytes = sensor.send(SimTime::ZERO, &controller()).unwrap();
        let (zero, frame) = bytes.split_last().unwrap();
        let reading = Reading::from_frame(frame).unwrap();
        assert_eq!((*zero, reading.seq, reading.value.as_slice()), (0, 1, &[0.05, -1.0][..]));
    }

    #[test]
    fn an_unplugged_sensor_is_silent_and_its_numbers_go_on() {
        let mut sensor = Sensor::new(Duration::from_millis(2), Box::new(|_| Some(vec![1.0])));
        sensor.set(Plug::Out);
        assert_eq!(line(&mut sensor, 0), None);
        sensor.set(Plug::In);
        assert_eq!(line(&mut sensor, 2).unwrap(), "seq=2 1.000000\n");
    }

    #[test]
    fn a_workpiece_lies_at_its_distance_under_the_tool() {
        let controller = controller();
        let mut sensor = Sensor::of_distance(workpiece(&controller, 0.07), Duration::from_millis(2), 1);
        let text = line(&mut sensor, 0).unwrap();
        let distance: f64 = text.split_whitespace().nth(1).unwrap().parse().unwrap();
        assert!((distance - 0.07).abs() < 0.004, "{text}");
    }
}
