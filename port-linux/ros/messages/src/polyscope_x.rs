//! The messages of `urinterfaces`, as PolyScope X publishes them: version 9.0.0, and two layouts from before 10.7
//! that other messages have replaced.
//!
//! The definitions contain an `Analog` and a `Digital` whose fields differ from those in `ur_msgs`. In this crate
//! they are named [`AnalogPin`] and [`DigitalPin`].

use super::{Header, Pose, Text, Twist, services};

messages! {
    ActiveTCP = "urinterfaces/msg/ActiveTCP" { header: Header, data: String }
    /// The level of one analog pin, with the pin's number. Domain: 0 current \[A\], 1 voltage \[V\].
    #[derive(Copy)]
    AnalogPin = "urinterfaces/msg/Analog" { pin: u8, domain: u8, value: f32 }
    #[derive(Copy, Eq)]
    DigitalPin = "urinterfaces/msg/Digital" { pin: u8, state: bool }
    AnalogIO = "urinterfaces/msg/AnalogIO" { analog_inputs: Vec<AnalogPin>, analog_outputs: Vec<AnalogPin> }
    #[derive(Eq)]
    DigitalIO = "urinterfaces/msg/DigitalIO" { digital_inputs: Vec<DigitalPin>, digital_outputs: Vec<DigitalPin> }
    AnalogIOStateStamped = "urinterfaces/msg/AnalogIOStateStamped" { header: Header, io_state: AnalogIO }
    DigitalIOStateStamped = "urinterfaces/msg/DigitalIOStateStamped" {
        header: Header, configurable_io: DigitalIO, standard_io: DigitalIO,
    }
    /// The level of one analog port in the layout from before 10.7, under the type name that [`AnalogPin`] has since
    /// then. Domain: 0 current \[A\], 1 voltage \[V\].
    AnalogPort = "urinterfaces/msg/Analog" { header: Header, domain: u8, data: f32 }
    /// The levels of one digital port, pin 0 first, in the layout from before 10.7.
    DigitalPort = "urinterfaces/msg/DigitalPort" { header: Header, data: Vec<bool> }

    BoolStamped = "urinterfaces/msg/BoolStamped" { header: Header, data: bool }
    ControlCycle = "urinterfaces/msg/ControlCycle" { header: Header, data: u64 }
    Current = "urinterfaces/msg/Current" { header: Header, data: f32 }
    Float32Stamped = "urinterfaces/msg/Float32Stamped" { header: Header, data: f32 }
    Float64Stamped = "urinterfaces/msg/Float64Stamped" { header: Header, data: f64 }
    JointMode = "urinterfaces/msg/JointMode" { header: Header, joint_modes: [u8; 6], tool_mode: u8 }
    JointTemperature = "urinterfaces/msg/JointTemperature" { header: Header, data: [f32; 6] }
    JointVoltage = "urinterfaces/msg/JointVoltage" { header: Header, data: [f64; 6] }
    RobotMode = "urinterfaces/msg/RobotMode" { header: Header, data: i8 }
    /// The state of the program: -1 undefined, 0 stopping, 1 stopped, 2 running, 3 pausing, 4 paused, 5 resuming, 6
    /// retracting.
    RuntimeState = "urinterfaces/msg/RuntimeState" { header: Header, data: i8 }
    SafetyStatus = "urinterfaces/msg/SafetyStatus" { header: Header, data: i8 }
    SpeedSliderFraction = "urinterfaces/msg/SpeedSliderFraction" { header: Header, data: f64 }
    TCPState = "urinterfaces/msg/TCPState" { header: Header, pose: Pose, speed: Twist }
    /// The output mode of the tool connector. Mode: 0 output, 1 power, 2 safe. Pins: 0 disabled, 1 sinking, 2
    /// sourcing, 3 push-pull.
    ToolOutputMode = "urinterfaces/msg/ToolOutputMode" { header: Header, output_mode: u8, output_pin_mode: [u8; 2] }
    VoltageCurrentStamped = "urinterfaces/msg/VoltageCurrentStamped" { header: Header, voltage: f64, current: f64 }
    WorldModelNames = "urinterfaces/msg/WorldModelNames" { header: Header, data: Vec<Text> }

    #[derive(Copy)]
    SetSpeedFractionRequest = "urinterfaces/srv/SetSpeedFraction_Request" { value: f32 }
    #[derive(Copy, Eq)]
    SetSpeedFractionResponse = "urinterfaces/srv/SetSpeedFraction_Response" { success: bool }
    #[derive(Eq)]
    SetDigitalOutputRequest = "urinterfaces/srv/SetDigitalOutput_Request" { data: Vec<DigitalPin> }
    #[derive(Copy, Eq)]
    SetDigitalOutputResponse = "urinterfaces/srv/SetDigitalOutput_Response" { success: bool }
    SetAnalogPinsRequest = "urinterfaces/srv/SetAnalogOutput_Request" { data: Vec<AnalogPin> }
    #[derive(Copy, Eq)]
    SetAnalogPinsResponse = "urinterfaces/srv/SetAnalogOutput_Response" { success: bool }
}

services! {
    SetSpeedFraction = "urinterfaces/srv/SetSpeedFraction": SetSpeedFractionRequest => SetSpeedFractionResponse;
    SetDigitalOutput = "urinterfaces/srv/SetDigitalOutput": SetDigitalOutputRequest => SetDigitalOutputResponse;
    SetAnalogPins = "urinterfaces/srv/SetAnalogOutput": SetAnalogPinsRequest => SetAnalogPinsResponse;
}

#[cfg(test)]
mod tests {
    use proptest::array::{uniform2, uniform6};
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::cdr::{decode, encode};
    use crate::{Message, Time};

    fn header() -> impl Strategy<Value = Header> {
        (any::<i32>(), any::<u32>(), "[a-z_]{0,9}")
            .prop_map(|(sec, nanosec, frame_id)| Header { stamp: Time { sec, nanosec }, frame_id })
    }

    fn analog() -> impl Strategy<Value = Vec<AnalogPin>> {
        let pin = (any::<u8>(), 0..2_u8, -1e3_f32..1e3);
        vec(pin.prop_map(|(pin, domain, value)| AnalogPin { pin, domain, value }), 0..4)
    }

    fn digital() -> impl Strategy<Value = DigitalIO> {
        let pins = || vec((any::<u8>(), any::<bool>()).prop_map(|(pin, state)| DigitalPin { pin, state }), 0..9);
        (pins(), pins()).prop_map(|(digital_inputs, digital_outputs)| DigitalIO { digital_inputs, digital_outputs })
    }

    fn comes_back<M: Message + PartialEq + std::fmt::Debug>(message: &M) {
        assert_eq!(decode::<M>(&encode(message)).as_ref(), Ok(message));
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(
            header in header(),
            inputs in analog(),
            outputs in analog(),
            configurable_io in digital(),
            standard_io in digital(),
            six in uniform6(-1e3_f64..1e3),
            modes in uniform6(any::<u8>()),
            pins in uniform2(any::<u8>()),
            levels in vec(any::<bool>(), 0..9),
            cycle in any::<u64>(),
        ) {
            let named = |data| WorldModelNames { header: header.clone(), data };
            comes_back(&named(vec![]));
            comes_back(&named(vec![Text { data: "table".into() }, Text::default()]));
            let io_state = AnalogIO { analog_inputs: inputs, analog_outputs: outputs.clone() };
            comes_back(&AnalogIOStateStamped { header: header.clone(), io_state });
            comes_back(&DigitalIOStateStamped { header: header.clone(), configurable_io, standard_io: standard_io.clone() });
            comes_back(&JointMode { header: header.clone(), joint_modes: modes, tool_mode: modes[0] });
            comes_back(&JointVoltage { header: header.clone(), data: six });
            comes_back(&JointTemperature { header: header.clone(), data: six.map(|value| value as f32) });
            let [x, y, z, ..] = six;
            let position = crate::Point { x, y, z };
            let (pose, speed) = (Pose { position, ..Pose::default() }, Twist::from(six));
            comes_back(&TCPState { header: header.clone(), pose, speed });
            comes_back(&ToolOutputMode { header: header.clone(), output_mode: modes[1], output_pin_mode: pins });
            comes_back(&DigitalPort { header: header.clone(), data: levels });
            comes_back(&ControlCycle { header, data: cycle });
            comes_back(&SetAnalogPinsRequest { data: outputs });
            comes_back(&SetDigitalOutputRequest { data: standard_io.digital_outputs });
        }
    }

    #[test]
    fn fields_lie_where_cdr_puts_them() {
        let header = Header { stamp: Time { sec: 1, nanosec: 2 }, frame_id: String::new() };
        // Encapsulation 4, stamp 8, an empty name 4 + 1; values of eight bytes therefore begin at 16 after the
        // encapsulation.
        let head = 4 + 8 + 4 + 1;
        let cycle = encode(&ControlCycle { header: header.clone(), data: 3 });
        assert_eq!((cycle.len(), cycle[4 + 16]), (4 + 16 + 8, 3));
        // Arrays of fixed length have no count before them, and arrays of bytes no padding.
        let modes = encode(&JointMode { header: header.clone(), joint_modes: [253; 6], tool_mode: 255 });
        assert_eq!(modes[head..], [253, 253, 253, 253, 253, 253, 255]);
        let levels = encode(&DigitalPort { header, data: vec![true, false] });
        assert_eq!(levels[4 + 16..], [2, 0, 0, 0, 1, 0]);
        let request = encode(&SetDigitalOutputRequest { data: vec![DigitalPin { pin: 5, state: true }] });
        assert_eq!(request[4..], [1, 0, 0, 0, 5, 1]);
    }
}
