//! Conversions from bytes to values and back, and extraction of messages from a stream.

use outrigger_wire::fields::{FieldVisitor, Group, Value};
use outrigger_wire::frame::{Assembler, Framing};
use outrigger_wire::fri;
use outrigger_wire::realtime::{Packet, Repr, plausible_head};
use outrigger_wire::robot::{SoftwareVersion, State};

use outrigger_wire::primary::{
    self, Element, Message, MessageKind, RobotMessage, RobotMessagePayload, RobotStateWriter, ValueNumbering,
};
use outrigger_wire::rtde_recipe;

use outrigger_wire::rtde::registry::Direction;
use outrigger_wire::rtde::{
    DynamicRecipe, Field, NameList, Package, Protocol, Recipe, Reply, Request, TextMessage, TypeList, Variable,
};

use crate::{any, any_bytes, any_text, into_room, shown, used};

rtde_recipe! {
    struct Outputs, view OutputsView: outputs { timestamp, actual_q, robot_mode, output_bit_register_64 }
}

rtde_recipe! {
    struct Inputs, view InputsView: inputs { standard_digital_output_mask, input_double_register_24 }
}

/// A visitor that consumes every field, like a printer.
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

/// Returns the state in a real-time packet of unknown content; `None` if the bytes are no such packet.
pub fn any_state() -> Option<State<6>> {
    Packet::new_checked(any_bytes()).ok()?.to_state().ok()
}

#[inline(never)]
pub fn probe() {
    realtime();
    stream(any(Framing::Primary));
    packages();
    recipes();
    messages();
    written();
    datagrams();
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
        Ok::<_, outrigger_wire::WireError>(())
    });
}

#[inline(never)]
fn packages() {
    let package = match Package::new_checked(any_bytes()) {
        Ok(package) => package,
        Err(error) => return shown(error),
    };
    let protocol = any(Protocol::V2);
    match Reply::parse(&package, protocol) {
        Ok(reply) => {
            reply.visit(&package, &mut Fields);
            into_room(|room| any(reply).emit(room));
        }
        Err(error) => shown(error),
    }
    used(Request::parse(&package, protocol));
    into_room(|room| any(Request::SetupOutputs { frequency: Some(125.0), names: NameList(any_bytes()) }).emit(room));
    let text = TextMessage { level: any(outrigger_wire::rtde::Level::Info), message: any_bytes(), source: any(None) };
    into_room(|room| any(Request::Text(text)).emit(room));
    TypeList(any_bytes()).iter().for_each(used);
}

#[inline(never)]
fn recipes() {
    if let Err(error) = Outputs::check(TypeList(any_bytes())) {
        shown(error);
    }
    match OutputsView::new(any_bytes()) {
        Ok(view) => used((view.actual_q(), view.to_values())),
        Err(error) => shown(error),
    }
    into_room(|room| any(Inputs::default()).emit(any(1), room));
    used(InputsView::new(any_bytes()).map(InputsView::to_values));
    let found = Variable::named(any_text(), any(Direction::Input));
    if let Some(variable) = found {
        used((variable.since().reached(any(SoftwareVersion::new(5, 15))), variable.unit()));
        shown(variable);
    }
    let mut memory = [Field::EMPTY; 8];
    let Ok(mut recipe) = DynamicRecipe::new(any_text(), any(Direction::Output), &mut memory) else { return };
    used(recipe.answered(TypeList(any_bytes())));
    into_room(|room| recipe.emit_request(any(Some(125.0)), room));
    into_room(|room| recipe.emit_data(any(1), any(&[outrigger_wire::rtde::Value::Double(0.5)]), room));
    if let Ok(data) = recipe.read(any_bytes()) {
        data.visit(&mut Fields);
        used(data.get(any_text()));
    }
    used((recipe.problem(), recipe.size()));
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
        RobotMessage::emit(any(1), any(outrigger_wire::robot::MessageSource::Rtde), &payload, room)
    });
    into_room(|room| {
        let elements = any::<&[Element<'_>]>(&[Element::List { count: 1 }, Element::Int(1), Element::End]);
        primary::ProgramStateMessage::emit_update(1, any(2), any(ValueNumbering::From5_9), elements, room)
    });
}

#[inline(never)]
fn datagrams() {
    match fri::Measurement::new_checked(any_bytes()) {
        Ok(measurement) => {
            measurement.visit(&mut Fields);
            used((measurement.to_repr(), measurement.setpoint()));
            used((measurement.named_state(), measurement.named_quality(), measurement.named_control()));
        }
        Err(error) => shown(error),
    }
    match fri::Command::new_checked(any_bytes()) {
        Ok(command) => {
            command.visit(&mut Fields);
            used((command.to_repr(), command.flags().contains(any(fri::CommandFlags::JOINT_POSITION))));
        }
        Err(error) => shown(error),
    }
    if let Some(header) = any_bytes().first_chunk() {
        used(fri::Datagram::of(header));
    }
    let mut krl = any(fri::KrlVariables::default());
    if let Some(at) = fri::KrlIndex::from_krl(any(1)) {
        krl.set_bool(at, any(true));
        krl.set_int(at, any(1));
        krl.set_real(at, any(1.0));
        used((krl.bool(at), krl.int(at), krl.real(at), at.krl()));
    }
    into_room(|room| any(fri::MeasurementRepr::default()).emit(room));
    into_room(|room| any(fri::CommandRepr { krl, ..fri::CommandRepr::default() }).emit(room));
}
