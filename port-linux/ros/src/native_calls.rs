//! The services that a PolyScope X controller offers itself (Surface N): reads calls and makes the responses
//! (`core/docs/protocol/ros2-surface.md` 4, services).
//!
//! Nothing is executed here. A call becomes a list of writes that belong together: one value that is not allowed
//! refuses the whole call.

use std::ops::RangeInclusive;

use outrigger_core::command::outputs::{AnalogDomain, DigitalOutput, Write};

use crate::driver_services::Refused;
use crate::topic_macros::offers;
use outrigger_ros2_messages::cdr::{decode, encode};
use outrigger_ros2_messages::endpoint::{Offer, Subscription};
use outrigger_ros2_messages::{
    AnalogPin, DigitalPin, Message, SetAnalogPins, SetAnalogPinsRequest, SetAnalogPinsResponse, SetDigitalOutput,
    SetDigitalOutputRequest, SetDigitalOutputResponse, SetSpeedFraction, SetSpeedFractionRequest,
    SetSpeedFractionResponse, Wrench, WrenchStamped,
};

offers! {
    /// Every service that a PolyScope X controller offers itself, below the node's namespace.
    NATIVE_OFFERS {
        SET_SPEED: "set_speed_fraction", SetSpeedFraction, "the slider, 0 to 1";
        SET_CONFIGURABLE: "set_configurable_digital_output", SetDigitalOutput, "pins 0 to 7, each at most once; not on CB2";
        SET_STANDARD: "set_standard_digital_output", SetDigitalOutput, "pins 0 to 7, each at most once";
        SET_ANALOG: "set_standard_analog_output", SetAnalogPins,
            "pins 0 and 1, each at most once; domain 0: 0.004 to 0.02 A, 1: 0 to 10 V";
    }
}

/// The topic on which clients send the force that an external sensor measures.
pub static EXTERNAL_WRENCH: &Subscription = &Subscription {
    name: "external_wrench",
    message: <WrenchStamped as Message>::TYPE,
    does: "force N and torque Nm of your own sensor: a reading of the source that `outputs.expert.force` names, which is written to the \
           RTDE input `external_force_torque`; its frame is ignored; needs `ros.expert.command = true`, six values and \
           `input = \"requests\"` for that source, and `ft_rtde_input_enable` in the program on the robot",
};
/// The rejection text for a measured force that no configured sensor (source) accepts.
pub const NO_SOURCE: &str = "no source accepts it: set outputs.expert.force = \"NAME\", of a [[source]] with input = \"requests\" and values = 6";

/// Returns the measured wrench in a message of [`EXTERNAL_WRENCH`]: force \[N\], then torque \[Nm\].
///
/// # Errors
/// [`Refused`] if the bytes are not such a message or a value is not finite.
pub fn external_wrench(bytes: &[u8]) -> Result<[f32; 6], Refused> {
    let WrenchStamped { wrench: Wrench { force, torque }, .. } = decode(bytes)?;
    let values = [force.x, force.y, force.z, torque.x, torque.y, torque.z].map(|value| value as f32);
    if values.iter().all(|value| value.is_finite()) {
        Ok(values)
    } else {
        wrong("wrench", "six numbers", format!("{values:?}"))
    }
}

/// The range of an analog output that is a current, for levels 0 to 1 \[A\]. UR's definition also allows 0.002 A, which
/// no other interface can set.
const CURRENT: RangeInclusive<f64> = 0.004..=0.02;
/// The range of an analog output that is a voltage, for levels 0 to 1 \[V\].
const VOLTAGE: RangeInclusive<f64> = 0.0..=10.0;
/// The amount by which the level of an analog output, a number from 0 to 1, may be outside this range; it is then taken
/// as the end of the range. A request carries single precision, and a level measured at one output may be requested for
/// another.
const SLACK: f64 = 1e-4;

/// Returns the outputs and values that a call of the service `offer` requests to set on the controller, in their order.
///
/// # Errors
/// [`Refused`] with the reason why nothing is written.
pub fn writes(offer: &'static Offer, bytes: &[u8]) -> Result<Vec<Write>, Refused> {
    let is = |other: &'static Offer| std::ptr::eq(offer, other);
    if is(&SET_SPEED) {
        let SetSpeedFractionRequest { value } = decode(bytes)?;
        match value {
            0.0..=1.0 => Ok(vec![Write::SpeedSlider(value)]),
            _ => wrong("value", "0 to 1", value),
        }
    } else if is(&SET_CONFIGURABLE) || is(&SET_STANDARD) {
        let kind = if is(&SET_STANDARD) { DigitalOutput::Standard } else { DigitalOutput::Configurable };
        let SetDigitalOutputRequest { data } = decode(bytes)?;
        each_once(data.iter().map(|pin| pin.pin), "0 to 7", 7)?;
        Ok(data.iter().map(|DigitalPin { pin, state }| Write::Digital { output: kind(*pin), high: *state }).collect())
    } else if is(&SET_ANALOG) {
        let SetAnalogPinsRequest { data } = decode(bytes)?;
        each_once(data.iter().map(|pin| pin.pin), "0 or 1", 1)?;
        data.iter().map(analog).collect()
    } else {
        wrong("service", "one that is offered", offer.name)
    }
}

/// Returns the response to a call of the service `offer`. No response of these services has a field for a reason.
#[must_use]
pub fn answer(offer: &'static Offer, success: bool) -> Vec<u8> {
    let is = |other: &'static Offer| std::ptr::eq(offer, other);
    if is(&SET_SPEED) {
        encode(&SetSpeedFractionResponse { success })
    } else if is(&SET_ANALOG) {
        encode(&SetAnalogPinsResponse { success })
    } else {
        encode(&SetDigitalOutputResponse { success })
    }
}

fn wrong<T>(name: &'static str, expected: &'static str, found: impl ToString) -> Result<T, Refused> {
    Err(Refused::Value { name, expected: expected.into(), found: found.to_string() })
}

/// Checks that a request has at least one pin, that no pin number exceeds `last` and that each pin occurs once. Of two
/// levels for one pin, the second would contradict or supersede the first, which would then be reported as failed.
fn each_once(pins: impl Iterator<Item = u8>, range: &'static str, last: u8) -> Result<(), Refused> {
    let mut seen = 0_u8;
    for (at, pin) in pins.enumerate() {
        let found = || format!("{pin} in data[{at}]");
        if pin > last {
            return wrong("data.pin", range, found());
        }
        if seen >> pin & 1 == 1 {
            return wrong("data.pin", "each pin once", found());
        }
        seen |= 1 << pin;
    }
    if seen == 0 { wrong("data", "at least one pin", "none") } else { Ok(()) }
}

fn analog(asked: &AnalogPin) -> Result<Write, Refused> {
    let AnalogPin { pin, domain, value } = *asked;
    let (domain, range, expected) = match domain {
        0 => (AnalogDomain::Current, CURRENT, "0.004 to 0.02 A"),
        1 => (AnalogDomain::Voltage, VOLTAGE, "0 to 10 V"),
        other => return wrong("data.domain", "0 (current) or 1 (voltage)", format!("{other} of pin {pin}")),
    };
    let level = (f64::from(value) - range.start()) / (range.end() - range.start());
    if !(-SLACK..=1.0 + SLACK).contains(&level) {
        return wrong("data.value", expected, format!("{value} of pin {pin}"));
    }
    Ok(Write::Analog { index: pin, domain: Some(domain), level: level.clamp(0.0, 1.0) as f32 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digital(offer: &'static Offer, data: &[(u8, bool)]) -> Result<Vec<Write>, String> {
        let data = data.iter().map(|(pin, state)| DigitalPin { pin: *pin, state: *state }).collect();
        writes(offer, &encode(&SetDigitalOutputRequest { data })).map_err(|refused| refused.to_string())
    }

    fn analog(data: &[(u8, u8, f32)]) -> Result<Vec<Write>, String> {
        let pin = |(pin, domain, value): &(u8, u8, f32)| AnalogPin { pin: *pin, domain: *domain, value: *value };
        let request = SetAnalogPinsRequest { data: data.iter().map(pin).collect() };
        writes(&SET_ANALOG, &encode(&request)).map_err(|refused| refused.to_string())
    }

    #[test]
    fn several_outputs_are_set_in_their_order_or_none_is() {
        let set = |output, high| Write::Digital { output, high };
        let standard = [set(DigitalOutput::Standard(7), true), set(DigitalOutput::Standard(0), false)];
        assert_eq!(digital(&SET_STANDARD, &[(7, true), (0, false)]), Ok(standard.to_vec()));
        let configurable = vec![set(DigitalOutput::Configurable(3), true)];
        assert_eq!(digital(&SET_CONFIGURABLE, &[(3, true)]), Ok(configurable));
        for (data, said) in [
            (&[(0, true), (8, true)][..], "data.pin: expected 0 to 7, found 8 in data[1]"),
            (&[(2, true), (1, true), (2, false)], "data.pin: expected each pin once, found 2 in data[2]"),
            (&[], "data: expected at least one pin, found none"),
        ] {
            assert_eq!(digital(&SET_STANDARD, data), Err(said.into()));
        }
    }

    #[test]
    fn an_analog_output_is_told_in_amperes_or_volts() {
        let level = |value: &Result<Vec<Write>, String>| match value.as_deref() {
            Ok([Write::Analog { level, .. }]) => *level,
            other => panic!("{other:?}"),
        };
        for (domain, value, expected) in
            [(0, 0.004, 0.0), (0, 0.012, 0.5), (0, 0.02, 1.0), (1, 0.0, 0.0), (1, 2.5, 0.25), (1, 10.0, 1.0)]
        {
            let found = level(&analog(&[(1, domain, value)]));
            assert!((found - expected).abs() < 1e-6 && (0.0..=1.0).contains(&found), "{domain} {value}: {found}");
        }
        let two = analog(&[(1, 1, 5.0), (0, 0, 0.012)]).expect("both");
        assert_eq!(two[0], Write::Analog { index: 1, domain: Some(AnalogDomain::Voltage), level: 0.5 });
        assert!(matches!(two[1], Write::Analog { index: 0, domain: Some(AnalogDomain::Current), .. }));
        for (data, said) in [
            (&[(0, 1, 5.0), (1, 0, 0.0)][..], "data.value: expected 0.004 to 0.02 A, found 0 of pin 1"),
            (&[(0, 0, 12.0)], "data.value: expected 0.004 to 0.02 A, found 12 of pin 0"),
            (&[(0, 1, f32::NAN)], "data.value: expected 0 to 10 V, found NaN of pin 0"),
            (&[(0, 2, 1.0)], "data.domain: expected 0 (current) or 1 (voltage), found 2 of pin 0"),
            (&[(2, 1, 1.0)], "data.pin: expected 0 or 1, found 2 in data[0]"),
        ] {
            assert_eq!(analog(data), Err(said.into()));
        }
    }

    #[test]
    fn a_slider_stands_between_0_and_1() {
        let slider = |value| writes(&SET_SPEED, &encode(&SetSpeedFractionRequest { value }));
        for value in [0.0, 0.3, 1.0] {
            assert_eq!(slider(value), Ok(vec![Write::SpeedSlider(value)]));
        }
        for none in [-0.1, 1.01, f32::NAN, f32::INFINITY] {
            assert!(slider(none).is_err(), "{none}");
        }
        let cut = writes(&SET_SPEED, &[0, 1, 0, 0, 1]);
        assert!(matches!(cut, Err(Refused::Bytes(_))), "{cut:?}");
    }

    #[test]
    fn every_service_is_understood_and_answered() {
        for offer in NATIVE_OFFERS {
            assert_eq!(answer(offer, true)[4..], [1], "{}", offer.name);
            let found = writes(offer, &[0, 1, 0, 0]);
            assert!(!matches!(found, Ok(_) | Err(Refused::Value { name: "service", .. })), "{}: {found:?}", offer.name);
        }
        static OTHER: Offer = Offer { name: "set_io", service: "ur_msgs/srv/SetIO", does: "nothing" };
        assert!(matches!(writes(&OTHER, &[]), Err(Refused::Value { name: "service", .. })));
    }
}
