//! The command `outrigger export`: writes a recording as a table, or as the bytes that it was made from.

mod csv;
mod units;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use self::csv::Table;
use crate::args::ExportArgs;
use outrigger::exit::{Failure, Outcome, output_closed};
use outrigger::feed::recorded::{each_raw, is_none, is_recording};
use outrigger::feed::{Message, Streams, WireFormat, listed, name_of, stream_memory};
use outrigger::show::eprintln_lossy;

/// Runs `outrigger export`.
///
/// # Errors
/// [`Failure::Usage`] for arguments that select no table or port; [`Failure::BadInput`] if the recording cannot be read
/// or contains nothing of the port, or if the output cannot be written.
pub(crate) fn run(args: &ExportArgs) -> Outcome {
    is_none(&args.file).map_or(Ok(()), Err)?;
    if !is_recording(&args.file) {
        return Err(Failure::BadInput(format!(
            "{}: not an MCAP file; `outrigger record` writes them",
            args.file.display()
        )));
    }
    match (&args.csv, &args.raw) {
        (Some(csv), _) => table(args, csv),
        (None, Some(raw)) => bytes(args, raw),
        (None, None) => Err(Failure::Usage("expected --csv FILE.csv or --raw FILE.bin".into())),
    }
}

fn create(path: &Path) -> Result<Box<dyn Write>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(BufWriter::new(io::stdout().lock())));
    }
    let file =
        File::create(path).map_err(|error| Failure::BadInput(format!("cannot create {}: {error}", path.display())))?;
    Ok(Box::new(BufWriter::new(file)))
}

/// Returns the failure for an error in writing the exported file.
fn unwritten(error: &io::Error) -> Failure {
    Failure::BadInput(format!("cannot write the output: {error}"))
}

/// Returns the outcome of an export. An error is not reported if the reader of the output has closed it (`gone`).
fn finish(written: Result<(), Failure>, gone: bool) -> Outcome {
    if gone { Ok(()) } else { written }
}

/// Writes every robot state that a recording has of one port as a row of a CSV table, to the file `to`.
fn table(args: &ExportArgs, to: &Path) -> Outcome {
    let [others @ .., last] = WireFormat::STATES_BY_PRECISION;
    let port = match args.port {
        Some(port) if has_format_with_states(port) => port,
        Some(port) => {
            let whole = listed(|format| format.states().is_some() && !format.is_partial(), "and");
            return Err(Failure::Usage(format!("states are on {whole}, not on {port}")));
        }
        None => others.into_iter().find(|port| has_states(&args.file, *port)).unwrap_or(last),
    };
    let mut memory = stream_memory();
    let Some(mut streams) = Streams::new(&mut memory) else { return Ok(()) };
    let mut table = Table::new(create(to)?);
    let mut gone = false;
    let read = each_raw(&args.file, &[port], |raw| {
        if raw.sent {
            streams.sent(port, raw.bytes);
            return Ok(());
        }
        if raw.bytes.is_empty() {
            streams.opened(port);
            return Ok(());
        }
        let mut written = Ok(());
        streams.received(port, raw.bytes, None, |message| {
            if written.is_ok() && matches!(message, Message::Realtime(_) | Message::Rtde(..) | Message::Fri(_)) {
                written = table.row(raw.nanos, &|visitor| message.visit_state(visitor));
            }
        });
        written.map_err(|error| {
            gone = error.kind() == io::ErrorKind::BrokenPipe;
            unwritten(&error)
        })
    });
    let rows = table.rows();
    let unplaced = table.unplaced();
    let flushed = table.finish().or_else(|error| output_closed(&error));
    finish(read, gone)?;
    flushed?;
    if rows == 0 && !gone {
        return Err(Failure::BadInput(format!("{}: it has no states of port {}", args.file.display(), name_of(port))));
    }
    if unplaced > 0 {
        eprintln_lossy!("outrigger: {unplaced} values left out: fields that the first state did not have");
    }
    Ok(())
}

/// Returns `true` if the stream with this number in a recording has a format that contains robot states.
fn has_format_with_states(port: u16) -> bool {
    WireFormat::of(port).is_some_and(|format| format.ports().contains(&port) && format.states().is_some())
}

/// Returns `true` if the readable part of a recording has at least one robot state by RTDE or FRI that was received on
/// `port`.
fn has_states(path: &Path, port: u16) -> bool {
    let mut memory = stream_memory();
    let Some(mut streams) = Streams::new(&mut memory) else { return false };
    let mut found = false;
    // A part that cannot be read is an error of the export, once everything before it is exported.
    let _ = each_raw(path, &[port], |raw| {
        if raw.sent {
            streams.sent(port, raw.bytes);
        } else if raw.bytes.is_empty() {
            streams.opened(port);
        } else if !found {
            streams.received(port, raw.bytes, None, |message| {
                found |= matches!(message, Message::Rtde(..) | Message::Fri(_));
            });
        }
        Ok(())
    });
    found
}

/// Writes the recorded bytes of one port to the file `to`, as they arrived.
fn bytes(args: &ExportArgs, to: &Path) -> Outcome {
    let Some(port) = args.port else {
        let ports = listed(|_| true, "or");
        return Err(Failure::Usage(format!("--raw needs the port: --port {ports}")));
    };
    let mut out = create(to)?;
    let (mut count, mut gone) = (0_u64, false);
    let read = each_raw(&args.file, &[port], |raw| {
        if raw.sent {
            return Ok(());
        }
        count += raw.bytes.len() as u64;
        out.write_all(raw.bytes).map_err(|error| {
            gone = error.kind() == io::ErrorKind::BrokenPipe;
            unwritten(&error)
        })
    });
    let flushed = out.flush().or_else(|error| output_closed(&error));
    finish(read, gone)?;
    flushed?;
    if count == 0 && !gone {
        return Err(Failure::BadInput(format!("{}: it has no bytes from port {}", args.file.display(), name_of(port))));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use outrigger_wire::realtime::Repr;

    use super::*;
    use outrigger::feed::recorded::raw_topic;

    #[test]
    fn every_state_before_the_end_of_a_recording_that_is_cut_is_a_row() {
        let mut disk = io::Cursor::new(vec![]);
        let mut writer = mcap::WriteOptions::new().compression(None).create(&mut disk).expect("memory");
        let channel_id = writer.add_channel(0, &raw_topic(30_003), "", &BTreeMap::new()).expect("memory");
        let mut put = |data: &[u8]| {
            let header = mcap::records::MessageHeader { channel_id, sequence: 0, log_time: 1, publish_time: 1 };
            writer.write_to_known_channel(&header, data).expect("memory");
        };
        put(&[]);
        for number in 0..20 {
            let mut bytes = vec![0; 1220];
            let repr = Repr { time: f64::from(number), robot_mode: 7.0, safety_mode: 1.0, ..Repr::default() };
            repr.emit(1220, &mut bytes).expect("room");
            put(&bytes);
        }
        drop(writer);
        let whole = disk.into_inner();
        let named = |kind| std::env::temp_dir().join(format!("outrigger-export-cut-{}.{kind}", std::process::id()));
        let (file, csv) = (named("mcap"), named("csv"));
        let args = ExportArgs { file: file.clone(), csv: Some(csv.clone()), raw: None, port: None };
        // A message has 31 bytes before its data.
        for states in [1, 10, 19] {
            std::fs::write(&file, &whole[..(states + 1) * 1251 - 100]).expect("room");
            let error = run(&args).expect_err("it is cut");
            assert!(error.code() == 1 && error.to_string().contains("is not complete"), "{error}");
            let rows = std::fs::read_to_string(&csv).expect("a table").lines().count() - 1;
            assert_eq!(rows, states, "{} bytes", (states + 1) * 1251 - 100);
        }
        for path in [file, csv] {
            std::fs::remove_file(path).expect("a file");
        }
    }
}
