//! Bytes to values and back, and messages out of a stream.

use outrigger_core::frame::{Assembler, Framing};
use outrigger_core::robot::{SoftwareVersion, State};
use outrigger_core::wire::fields::{FieldVisitor, Group, Value};
use outrigger_core::wire::realtime::{Packet, Repr, plausible_head};

use outrigger_core::wire::primary::{
    self, Element, Message, MessageKind, RobotMessage, RobotMessagePayload, RobotStateWriter, ValueNumbering,
};

use crate::{any, any_bytes, into_room, shown, used};

/// Takes every field, as a printer would.
struct Fields;

impl FieldVisitor for Fields {
    fn field(&mut self, name: &str, value: Value<'_>) {
        used((name, value));
    }
    fn begin(&mut self, name: &str, group: Group) {
        used((name, group));
    }
    fn end(&mut self) {}
}

/// The state of any packet.
pub fn any_state() -> Option<State<6>> {
    Packet::new_checked(any_bytes()).ok()?.to_state().ok()
}

#[inline(never)]
pub fn probe() {
    realtime();
    stream(any(Framing::Primary));
    messages();
    written();
}

#[inline(never)]
fn realtime() {
    let packet = match Packet::new_checked(any_bytes()) {
        Ok(packet) => packet,
        Err(error) => return shown(error),
    };
    packet.visit(&mut Fields);
    used((packet.to_state(), packet.to_repr(), packet.controller_time()));
    used((packet.named_robot_mode(), packet.named_safety_mode(), packet.named_program_state()));
    if let Some(head) = any_bytes().first_chunk() {
        used(plausible_head(head));
    }
    let size = Repr::size_for(any(SoftwareVersion::new(3, 15)));
    into_room(|room| any(Repr::default()).emit(any(size), room));
}

#[inline(never)]
fn stream(framing: Framing) {
    into_room(|memory| {
        let mut assembler = Assembler::new(framing, memory)?;
        used(assembler.window());
        assembler.commit(any(7));
        while let Some(frame) = assembler.next_frame() {
            match frame {
                Ok(bytes) => used(bytes),
                Err(error) => shown(error),
            }
        }
        used((assembler.buffered(), assembler.dropped()));
        assembler.reset();
        Ok::<_, outrigger_core::wire::WireError>(())
    });
}

#[inline(never)]
fn messages() {
    let message = match Message::new_checked(any_bytes()) {
        Ok(message) => message,
        Err(error) => return shown(error),
    };
    used(message.visit(any(Some(SoftwareVersion::new(5, 15))), &mut Fields));
    let MessageKind::RobotState(packages) = message.kind() else { return };
    for package in packages {
        match package {
            Ok(primary::SubPackage::RobotModeData(view)) => used((view.controller_time(), view.to_repr())),
            Ok(primary::SubPackage::KinematicsInfo(view)) => used(view.to_repr()),
            Ok(primary::SubPackage::MasterboardData(view)) => used((view.named_safety_mode(), view.trailing())),
            other => used(other),
        }
    }
}

#[inline(never)]
fn written() {
    into_room(|room| {
        let mut state = RobotStateWriter::new(room)?;
        state.add(&any(primary::RobotModeDataRepr::default()), any(47))?;
        state.add(&any(primary::MasterboardDataRepr::default()), any(91))?;
        state.add_extended(&any(primary::JointDataRepr::default()), any(251), any_bytes())?;
        state.add_raw(any(14), any_bytes())?;
        used(primary::size_for(any(3), any(SoftwareVersion::new(3, 2))));
        state.finish()
    });
    into_room(|room| {
        let text = primary::Text(any_bytes());
        let payload = any(RobotMessagePayload::Text(text));
        RobotMessage::emit(any(1), any(outrigger_core::robot::MessageSource::Rtde), &payload, room)
    });
    into_room(|room| {
        let elements = any::<&[Element<'_>]>(&[Element::List { count: 1 }, Element::Int(1), Element::End]);
        primary::ProgramStateMessage::emit_update(1, any(2), any(ValueNumbering::From5_9), elements, room)
    });
}
