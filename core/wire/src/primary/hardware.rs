//! Sub-packages about boards and the tool flange: tool data (2), masterboard (3), tool communication (11) and tool
//! mode (12). `core/docs/protocol/ur-client-interfaces.md 3.4, 3.5, 3.11`.

use super::package::sub_package;
use crate::layout::{Flag, total};
use crate::robot::{MasterOnOffState, MasterSafetyState, SafetyMode, ToolMode};
use zerocopy::big_endian::{F32, F64, I16, I32, U32};

sub_package! {
    type 2;
    /// The sub-package of tool data: inputs, supply, temperature and mode of the tool flange; 37 B in every version.
    view ToolData;
    /// The values of [`ToolData`] in host order.
    repr ToolDataRepr;
    size size;

    block all: Tool at 5; {
         5 analog_input_range_2: u8, "–", "Range of tool input 0";
         6 analog_input_range_3: u8, "–", "Range of tool input 1";
         7 analog_input_2: F64, "V or A", "Tool input 0";
        15 analog_input_3: F64, "V or A", "Tool input 1";
        23 tool_voltage_48v: F32, "V", "Supply of the tool board; implausible on some arms";
        27 tool_output_voltage: u8, "V", "Voltage at the connector: 0, 12 or 24";
        28 tool_current: F32, "A", "Tool current";
        32 tool_temperature: F32, "°C", "Temperature of the tool board";
        36 tool_mode: u8, "–", "Tool mode";
    }
}

total! {
    37 = 5 + Tool;
}

impl ToolData<'_> {
    /// Returns the mode of the tool flange electronics by name.
    #[must_use]
    pub fn named_tool_mode(&self) -> ToolMode {
        ToolMode::from_raw(self.tool_mode().into())
    }
}

sub_package! {
    type 3;
    /// The sub-package of masterboard data of CB2: 61 B up to software 1.5, 64 B after, 76 B with Euromap 67.
    view MasterboardDataCb2;
    /// The values of [`MasterboardDataCb2`] in host order.
    repr MasterboardDataCb2Repr;
    size size;

    block io: MasterboardIoCb2 at 5; {
         5 digital_input_bits: I16, "–", "Bits 0 to 7 box, 8 and 9 tool";
         7 digital_output_bits: I16, "–", "Bits 0 to 7 box, 8 and 9 tool";
         9 analog_input_range: [u8; 2], "–", "Ranges of the box inputs";
        11 analog_input: [F64; 2], "V or A", "Box inputs";
        27 analog_output_domain: [u8; 2], "–", "0 current, 1 voltage";
        29 analog_output: [F64; 2], "V or A", "Box outputs";
        45 master_board_temperature: F32, "°C", "Temperature of the masterboard";
        49 robot_voltage_48v: F32, "V", "48 V rail";
        53 robot_current: F32, "A", "Robot current";
        57 master_io_current: F32, "A", "Current of the inputs and outputs";
    }
    block safety: MasterboardSafetyCb2 at 61 when size >= 64; {
        61 master_safety_state: u8, "–", "Safety state, 8 is OK";
        62 master_on_off_state: u8, "–", "Power state, 2 is ON";
        63 euromap67_interface_installed: u8, "–", "Whether the Euromap 67 block follows";
    }
    block euromap: Euromap67Cb2 at 64 when size >= 76 && safety.is_some_and(|s| s.euromap67_interface_installed != 0); {
        64 input_bits: I32, "–", "Euromap 67 inputs";
        68 output_bits: I32, "–", "Euromap 67 outputs";
        72 voltage: I16, "V", "Euromap 67 voltage";
        74 current: I16, "A", "Euromap 67 current";
    }
}

total! {
    61 = 5 + MasterboardIoCb2;
    64 = 61 + MasterboardSafetyCb2;
    76 = 64 + Euromap67Cb2;
}

impl MasterboardDataCb2<'_> {
    /// Returns the masterboard's safety state by name; `None` before software 1.6.
    #[must_use]
    pub fn named_safety_state(&self) -> Option<MasterSafetyState> {
        self.master_safety_state().map(|state| MasterSafetyState::from_raw(state.into()))
    }

    /// Returns the masterboard's power state by name; `None` before software 1.6.
    #[must_use]
    pub fn named_on_off_state(&self) -> Option<MasterOnOffState> {
        self.master_on_off_state().map(|state| MasterOnOffState::from_raw(state.into()))
    }
}

sub_package! {
    type 3;
    /// The sub-package of masterboard data of CB3 and later: 72 B on software 3.0 and 3.1, 74 B on 3.2 to 3.4, 75 B
    /// after. The interface Euromap 67 (later called IMMI) adds 16 B and shifts all fields behind its block.
    view MasterboardData;
    /// The values of [`MasterboardData`] in host order.
    repr MasterboardDataRepr;
    size size;

    block io: MasterboardIo at 5; {
         5 digital_input_bits: I32, "–", "Bits 0 to 7 standard, 8 to 15 configurable, 16 and 17 tool";
         9 digital_output_bits: I32, "–", "Bits 0 to 7 standard, 8 to 15 configurable, 16 and 17 tool";
        13 analog_input_range: [u8; 2], "–", "Ranges of the box inputs";
        15 analog_input: [F64; 2], "V or A", "Box inputs";
        31 analog_output_domain: [u8; 2], "–", "0 current, 1 voltage";
        33 analog_output: [F64; 2], "V or A", "Box outputs";
        49 master_board_temperature: F32, "°C", "Temperature of the masterboard";
        53 robot_voltage_48v: F32, "V", "48 V rail";
        57 robot_current: F32, "A", "Robot current";
        61 master_io_current: F32, "A", "Current of the inputs and outputs, may be negative";
        65 safety_mode: u8, "–", "Safety mode";
        66 in_reduced_mode: u8, "–", "Whether reduced mode is active";
        67 euromap67_interface_installed: u8, "–", "Whether the Euromap 67 block follows";
    }
    block euromap: Euromap67 at 68 when size >= 84 && io.euromap67_interface_installed != 0; {
        68 euromap_input_bits: U32, "–", "Euromap 67 inputs";
        72 euromap_output_bits: U32, "–", "Euromap 67 outputs";
        76 euromap_voltage_24v: F32, "V", "Euromap 67 voltage";
        80 euromap_current: F32, "A", "Euromap 67 current";
    }
    tail MasterboardTail at 68; {
        68 reserved_68: U32, "–", "Internal to the vendor; the safety checksum in recordings";
        72 operational_mode_selector_input: u8, "–", "Operational mode selector";
        73 three_position_enabling_device_input: u8, "–", "Three-position enabling device";
        74 reserved_74: u8, "–", "Internal to the vendor; 1 in recordings";
    }
}

total! {
    75 = 5 + MasterboardIo + MasterboardTail;
    91 = 5 + MasterboardIo + Euromap67 + MasterboardTail;
}

impl MasterboardData<'_> {
    /// Returns the controller's safety mode by name.
    #[must_use]
    pub fn named_safety_mode(&self) -> SafetyMode {
        SafetyMode::from_raw(self.safety_mode().into())
    }
}

/// Returns whether a masterboard sub-package has CB2's layout. Its size decides. The one size that both layouts could
/// have is that of CB2 with Euromap 67, which is marked at offset 63.
pub(super) fn is_cb2_masterboard(bytes: &[u8]) -> bool {
    match bytes.len() {
        0..=71 => true,
        76 => bytes.get(63) == Some(&1),
        _ => false,
    }
}

sub_package! {
    type 11;
    /// The sub-package about communication with the tool, 26 B, 5.0 and later.
    view ToolCommunicationInfo;
    /// The values of [`ToolCommunicationInfo`] in host order.
    repr ToolCommunicationInfoRepr;
    size size;

    block all: ToolCommunication at 5; {
         5 tool_communication_is_enabled: Flag, "–", "Whether the tool's serial line is on";
         6 baud_rate: I32, "Bd", "Baud rate";
        10 parity: I32, "–", "0 none, 1 odd, 2 even";
        14 stop_bits: I32, "–", "Stop bits";
        18 rx_idle_chars: F32, "characters", "Idle time that ends a reception";
        22 tx_idle_chars: F32, "characters", "Idle time before a transmission";
    }
}

total! {
    26 = 5 + ToolCommunication;
}

sub_package! {
    type 12;
    /// The sub-package about the modes of the tool's outputs, 8 B, after 5.0.
    view ToolModeInfo;
    /// The values of [`ToolModeInfo`] in host order.
    repr ToolModeInfoRepr;
    size size;

    block all: ToolOutputMode at 5; {
        5 output_mode: u8, "–", "Output mode";
        6 digital_output_mode_output_0: u8, "–", "1 sinking, 2 sourcing, 3 push-pull";
        7 digital_output_mode_output_1: u8, "–", "1 sinking, 2 sourcing, 3 push-pull";
    }
}

total! {
    8 = 5 + ToolOutputMode;
}
