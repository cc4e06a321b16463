//! The sensors that settings name, at a board's ports: one serial, several analog, one at an I²C bus, one at an SPI
//! port.

use embassy_time::Delay;
use embedded_hal_async::digital::Wait;
use embedded_hal_async::i2c::I2c;
use embedded_hal_async::spi::SpiDevice;
use embedded_io_async::Read;
use outrigger_core::bridges::{BridgeRate, Bridges};
use outrigger_core::engine::{Controller, Sensor, SensorInput};
use outrigger_embassy::sensor::{self, Adc, Ads131m06, Analog, Arrival, Calibration, Gp2y0e03, Uart, pump};
use outrigger_embassy::{Handle, now};
use outrigger_wire::sensor::{Form, Scale, SourceId};

use crate::log_event::PeerEvent;
use crate::shared::Shared;

/// The sensor that the settings name for the board's serial port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SerialSensor {
    /// The rate of the serial port \[Bd\]; 8 bits, no parity, 1 stop bit.
    pub baud: u32,
    form: Form,
    scale: Scale,
    source: SourceId,
}

impl SerialSensor {
    /// Returns the first of `sensors` in the settings that is serial; `None` if there is none.
    #[must_use]
    pub fn of(mut sensors: impl Iterator<Item = (SourceId, Sensor)>) -> Option<Self> {
        sensors.find_map(|(source, sensor)| match sensor.input {
            SensorInput::Serial { baud, form } => Some(Self { baud, form, scale: sensor.scale, source }),
            SensorInput::Analog { .. } | SensorInput::Gp2y0e03 | SensorInput::Ads131m06 { .. } => None,
        })
    }

    /// Passes the readings of the serial sensor to `robot`; never returns. Errors are counted in `shared`.
    pub async fn run<const N: usize, P: Controller<N, Event: PeerEvent>>(
        self,
        port: impl Read,
        robot: Handle<'_>,
        shared: &Shared<N, P>,
    ) -> ! {
        let counters = shared.counters(self.source);
        pump(Uart::new(port, self.form, self.scale, Delay, now, counters), robot, self.source).await
    }
}

/// The sensor that the settings name for one of the board's analog inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnalogSensor {
    period_us: u32,
    scale: Scale,
    source: SourceId,
}

impl AnalogSensor {
    /// Returns the sensor at the analog input with this number, from 1, in the settings; `None` if there is none.
    #[must_use]
    pub fn of(mut sensors: impl Iterator<Item = (SourceId, Sensor)>, number: u8) -> Option<Self> {
        sensors.find_map(|(source, sensor)| match sensor.input {
            SensorInput::Analog { port, rate } => {
                (port == number).then(|| Self { period_us: 1_000_000 / rate.max(1), scale: sensor.scale, source })
            }
            SensorInput::Serial { .. } | SensorInput::Gp2y0e03 | SensorInput::Ads131m06 { .. } => None,
        })
    }

    /// Converts the voltage at the analog input periodically and passes the readings to `robot`; never returns. Errors
    /// are counted in `shared`. A count of `full` is a voltage of `volts` at the pin.
    pub async fn run<const N: usize, P: Controller<N, Event: PeerEvent>>(
        self,
        adc: impl Adc,
        full: u16,
        volts: f32,
        robot: Handle<'_>,
        shared: &Shared<N, P>,
    ) -> ! {
        let (calibration, counters) = (self.calibration(full, volts), shared.counters(self.source));
        let analog = Analog::new(adc, calibration, self.period_us, Delay, now, counters);
        pump(analog, robot, self.source).await
    }

    /// Returns the calibration that converts counts of the analog input to readings. Every count from 0 to `full` is
    /// valid here; the configured range of the sensor's source determines which readings are invalid.
    fn calibration(&self, full: u16, volts: f32) -> Calibration {
        let Scale { factor, offset } = self.scale;
        Calibration { gain: factor * volts / f32::from(full), offset, lowest: 0, highest: full.into() }
    }
}

/// The distance sensor that the settings name for the board's I²C bus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BusSensor {
    scale: Scale,
    source: SourceId,
}

impl BusSensor {
    /// Returns the first distance sensor at the I²C bus in the settings; `None` if there is none.
    #[must_use]
    pub fn of(mut sensors: impl Iterator<Item = (SourceId, Sensor)>) -> Option<Self> {
        sensors.find_map(|(source, sensor)| match sensor.input {
            SensorInput::Gp2y0e03 => Some(Self { scale: sensor.scale, source }),
            SensorInput::Serial { .. } | SensorInput::Analog { .. } | SensorInput::Ads131m06 { .. } => None,
        })
    }

    /// Passes the readings of the distance sensor to `robot`; never returns. Errors are counted in `shared`.
    pub async fn run<const N: usize, P: Controller<N, Event: PeerEvent>>(
        self,
        bus: impl I2c,
        robot: Handle<'_>,
        shared: &Shared<N, P>,
    ) -> ! {
        let sensor = Gp2y0e03::new(bus, Delay, now, shared.counters(self.source));
        pump(Scaled { sensor, scale: self.scale }, robot, self.source).await
    }
}

/// The force/torque sensor that the settings name for the board's SPI port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WrenchSensor {
    rate: BridgeRate,
    bridges: Bridges,
    scale: Scale,
    source: SourceId,
}

impl WrenchSensor {
    /// Returns the first force/torque sensor at the SPI port in the settings; `None` if there is none.
    #[must_use]
    pub fn of(mut sensors: impl Iterator<Item = (SourceId, Sensor)>) -> Option<Self> {
        sensors.find_map(|(source, sensor)| match sensor.input {
            SensorInput::Ads131m06 { rate, bridges } => Some(Self { rate, bridges, scale: sensor.scale, source }),
            SensorInput::Serial { .. } | SensorInput::Analog { .. } | SensorInput::Gp2y0e03 => None,
        })
    }

    /// Reads the force/torque sensor whenever `data_ready` is low and passes the readings to `robot`; never returns.
    /// Errors are counted in `shared`.
    pub async fn run<const N: usize, P: Controller<N, Event: PeerEvent>>(
        self,
        spi: impl SpiDevice,
        data_ready: impl Wait,
        robot: Handle<'_>,
        shared: &Shared<N, P>,
    ) -> ! {
        let Self { rate, bridges, scale, source } = self;
        let sensor = Ads131m06::new(spi, data_ready, rate, bridges, Delay, now, shared.counters(source));
        pump(Scaled { sensor, scale }, robot, source).await
    }
}

/// A sensor whose values are converted by `scale`, because their unit or zero point is not that of the control law.
struct Scaled<S> {
    sensor: S,
    scale: Scale,
}

impl<S: sensor::Sensor> sensor::Sensor for Scaled<S> {
    async fn next(&mut self) -> Arrival {
        let Arrival { reading, at } = self.sensor.next().await;
        Arrival { reading: self.scale.of(reading), at }
    }
}

#[cfg(test)]
mod tests {
    use core::net::Ipv4Addr;

    use outrigger_core::command::{MAX_SOURCES, SourceConfig};
    use outrigger_core::engine::Device;
    use outrigger_core::engine::ur::{UrConfig, UrSettings};
    use outrigger_core::law::{JointServoConfig, LawConfig, Reference};

    use super::*;

    const SCALE: Scale = Scale { factor: 0.5, offset: 0.25 };

    fn settings(inputs: &[(u8, SensorInput)]) -> UrSettings {
        let mut config = UrConfig::default();
        let mut sensors = [None; MAX_SOURCES];
        for (n, (source, input)) in inputs.iter().enumerate() {
            config.sources[n] = Some(SourceConfig::new(SourceId(*source), 1, 0.0, 1.0));
            sensors[n] = Some(Sensor { input: *input, scale: SCALE });
        }
        UrSettings {
            robot: Ipv4Addr::LOCALHOST,
            config,
            law: LawConfig::JointServo { reference: Reference::Hold, config: JointServoConfig::default() },
            device: Device {
                address: Ipv4Addr::LOCALHOST,
                prefix: 24,
                gateway: None,
                mac: None,
                telemetry: None,
                sensors,
                recorder: None,
                brake_release_pin: false,
            },
        }
    }

    #[test]
    fn each_sensor_is_found_at_its_port_whatever_stands_before_it() {
        let frames = SensorInput::Serial { baud: 9_600, form: Form::Frames };
        let bridges = Bridges { matrix: [[1.0; 6]; 6], unloaded: [0.0; 6] };
        let wrench = SensorInput::Ads131m06 { rate: BridgeRate::Hz250, bridges };
        let analog = |port| SensorInput::Analog { port, rate: 500 };
        let four = settings(&[(3, analog(2)), (1, frames), (0, analog(1)), (2, wrench)]);
        let serial = SerialSensor { baud: 9_600, form: Form::Frames, scale: SCALE, source: SourceId(1) };
        assert_eq!(SerialSensor::of(four.sensors()), Some(serial));
        for (number, source) in [(1, 0), (2, 3)] {
            let analog = AnalogSensor { period_us: 2_000, scale: SCALE, source: SourceId(source) };
            assert_eq!(AnalogSensor::of(four.sensors(), number), Some(analog));
        }
        let wrench = WrenchSensor { rate: BridgeRate::Hz250, bridges, scale: SCALE, source: SourceId(2) };
        assert_eq!(WrenchSensor::of(four.sensors()), Some(wrench));
        assert_eq!(BusSensor::of(four.sensors()), None);
        let bus = settings(&[(3, analog(1)), (2, SensorInput::Gp2y0e03), (1, frames)]);
        assert_eq!(BusSensor::of(bus.sensors()), Some(BusSensor { scale: SCALE, source: SourceId(2) }));
        assert_eq!(WrenchSensor::of(bus.sensors()), None);
    }

    #[test]
    fn a_port_that_the_settings_do_not_name_is_left_alone() {
        let lines = settings(&[(1, SensorInput::Serial { baud: 115_200, form: Form::Lines })]);
        assert_eq!(AnalogSensor::of(lines.sensors(), 1), None);
        assert_eq!(SerialSensor::of(lines.sensors()).map(|sensor| sensor.form), Some(Form::Lines));
        assert_eq!(SerialSensor::of(settings(&[]).sensors()), None);
    }

    #[test]
    fn the_ends_of_the_converter_are_the_ends_of_its_reference_in_the_sensors_unit() {
        let analog = settings(&[(1, SensorInput::Analog { port: 1, rate: 100 })]);
        let calibration = AnalogSensor::of(analog.sensors(), 1).unwrap().calibration(4_095, 3.3);
        assert_eq!(calibration.value(0), 0.25);
        assert!((calibration.value(4_095) - (0.5 * 3.3 + 0.25)).abs() < 1e-6);
        assert!(calibration.value(4_096).is_nan());
    }
}
