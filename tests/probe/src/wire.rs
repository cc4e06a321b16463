//! Bytes to values and back, and messages out of a stream.

use outrigger_core::frame::{Assembler, Framing};
use outrigger_core::robot::{SoftwareVersion, State};
use outrigger_core::wire::fields::{FieldVisitor, Group, Value};
use outrigger_core::wire::realtime::{Packet, Repr, plausible_head};

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
