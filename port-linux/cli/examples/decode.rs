//! Decodes one message of port 30003 from a file: `cargo run --release -p outrigger --example decode -- FILE`.

use outrigger_wire::realtime::Packet;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bytes = std::fs::read(std::env::args().nth(1).ok_or("which file?")?)?;
    let packet = Packet::new_checked(&bytes)?;
    println!("{:?} at {} s", packet.q_actual(), packet.time());
    Ok(())
}
