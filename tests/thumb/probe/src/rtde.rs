//! The RTDE client alone, with commands through registers.

use outrigger_core::client::rtde::{
    Client, ClientConfig, ClientMemory, Event, Input, Inputs, RegisterCommands, Registers,
};
use outrigger_wire::robot::JointVelocities;
use outrigger_wire::rtde::registry::Direction;
use outrigger_wire::rtde::{DynamicRecipe, Field, Level, Value};
use outrigger_wire::time::{Duration, Instant};

use crate::{any, any_numbers, any_text, shown, used};

#[inline(never)]
pub fn probe() {
    let names = any(Registers::UPPER).names();
    let (mut read, mut written) = ([Field::EMPTY; 8], [Field::EMPTY; Registers::COUNT]);
    let outputs = DynamicRecipe::with_optional(any_text(), names.mirror(), Direction::Output, &mut read);
    let inputs = DynamicRecipe::new(names.inputs(), Direction::Input, &mut written);
    let (outputs, inputs) = match (outputs, inputs) {
        (Ok(outputs), Ok(inputs)) => (outputs, inputs),
        (Err(error), _) | (_, Err(error)) => return shown(error),
    };
    let (mut inputs, mut receive, mut transmit) = ([Inputs::new(inputs)], [0; 1024], [0; 512]);
    let memory = ClientMemory { receive: any::<&mut [u8]>(&mut receive), transmit: any::<&mut [u8]>(&mut transmit) };
    match Client::new(any(ClientConfig::default()), outputs, &mut inputs, memory) {
        Ok(mut client) => live(&mut client),
        Err(error) => shown(error),
    }
}

#[inline(never)]
fn live(client: &mut Client<'_, '_>) {
    let mut commands = RegisterCommands::new(any(Registers::UPPER), any(Duration::from_millis(6)));
    let mut now = any(Instant::from_micros(1));
    while any(true) {
        now = now + any(Duration::from_millis(1));
        match any(0) {
            0..5 => client.handle(now, any(Input::Opened)),
            5 => {
                if let Err(error) = client.write(any(0), any::<&[Value]>(&[Value::Uint8(1), Value::Double(0.5)])) {
                    shown(error);
                }
            }
            6 => used(client.say(any(Level::Info), any_text(), any_text())),
            7 => match commands.send(client, any(0), any(1), JointVelocities(any_numbers()), now) {
                Ok(number) => used(number),
                Err(error) => shown(error),
            },
            8 => commands.opened(),
            _ => {
                client.receive_window().fill(any(7));
                client.commit(any(100), now, now);
            }
        }
        while let Some(event) = client.poll_event() {
            if let Event::Data(data) = &event {
                used((data.values.get(any_text()), commands.take(&data.values, now)));
            }
            told(event);
        }
        while let Some(output) = client.poll_output() {
            used(output);
        }
        used((client.poll_timeout(), client.is_flowing(), client.protocol(), client.dropped_bytes()));
        used((*client.counts(), *client.cadence(), commands.figures(now), client.outputs().size()));
    }
}

fn told(event: Event<'_, '_>) {
    match event {
        Event::Data(data) => data.values.iter().for_each(used),
        Event::Failed(failure) => shown(failure),
        Event::InputsRefused { error, .. } | Event::Absent(error) => shown(error),
        Event::Malformed(error) => shown(error),
        event => used(event),
    }
}
