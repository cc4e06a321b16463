//! Lists the programs on a PolyScope X controller through its Robot API (`core/docs/protocol/ur-dashboard.md` 6).

use std::io;
use std::net::SocketAddr;

use outrigger_ros2_messages::ProgramInformation;
use outrigger_wire::robot_api::BASE;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use outrigger::net::cannot_connect;

/// The longest answer with the list of programs that is read \[B\].
const MOST: u64 = 4 << 20;

/// Returns every program on the controller.
///
/// # Errors
/// A text that names the service that did not answer, or its unexpected answer.
pub(super) async fn list(at: SocketAddr) -> Result<Vec<ProgramInformation>, String> {
    let answer = get(at).await.map_err(|error| cannot_connect(at, &error))?;
    read(&answer).map_err(|what| format!("http://{at}{BASE}/programs/v1/: {what}"))
}

/// Requests the list of programs from the Robot API by HTTP/1.0, so that the answer is in one piece and ends with the
/// connection; returns the answer.
async fn get(at: SocketAddr) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(at).await?;
    let call = format!("GET {BASE}/programs/v1/ HTTP/1.0\r\nHost: {at}\r\nAccept: application/json\r\n\r\n");
    stream.write_all(call.as_bytes()).await?;
    let mut answer = vec![];
    stream.take(MOST).read_to_end(&mut answer).await?;
    Ok(answer)
}

fn read(answer: &[u8]) -> Result<Vec<ProgramInformation>, String> {
    let blank = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").ok_or("no HTTP reply")?;
    let (head, body) = answer.split_at_checked(blank + 4).ok_or("no HTTP reply")?;
    let head = String::from_utf8_lossy(head);
    let status = head.split_ascii_whitespace().nth(1).unwrap_or_default();
    if !(head.starts_with("HTTP/1.") && status.starts_with('2')) {
        return Err(format!("status {status}"));
    }
    let answer: Value = serde_json::from_slice(body).map_err(|error| format!("invalid JSON: {error}"))?;
    let programs = answer.get("programs").and_then(Value::as_array).ok_or("no list of programs")?;
    Ok(programs.iter().map(program).collect())
}

/// Reads one program of the Robot API's list. Fields that are null or missing become empty or 0.
fn program(program: &Value) -> ProgramInformation {
    let text = |key| program.get(key).and_then(Value::as_str).unwrap_or_default().replace('\0', "");
    let date = |key| program.get(key).and_then(Value::as_u64).unwrap_or_default();
    ProgramInformation {
        name: text("name"),
        description: text("description"),
        created_date: date("createdDate"),
        last_saved_date: date("lastSavedDate"),
        last_modified_date: date("lastModifiedDate"),
        program_state: text("programState"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_with_what_is_not_told_left_empty() {
        let body = r#"{"programs":[{"name":"a","description":"x","createdDate":5,"lastModifiedDate":null,
            "lastSavedDate":7,"programState":"FINAL"},{"name":"b"}]}"#;
        let programs = read(format!("HTTP/1.1 200 OK\r\nX: y\r\n\r\n{body}").as_bytes()).expect("programs");
        let first = ProgramInformation {
            name: "a".into(),
            description: "x".into(),
            created_date: 5,
            last_saved_date: 7,
            last_modified_date: 0,
            program_state: "FINAL".into(),
        };
        assert_eq!(programs, [first, ProgramInformation { name: "b".into(), ..ProgramInformation::default() }]);
    }

    #[test]
    fn what_is_no_list_is_told() {
        for (answer, said) in [
            ("", "no HTTP reply"),
            ("SSH-2.0\r\n\r\n", "status "),
            ("HTTP/1.1 404 Not Found\r\n\r\n{}", "status 404"),
            ("HTTP/1.1 200 OK\r\n\r\n<html>", "invalid JSON: expected value at line 1 column 1"),
            ("HTTP/1.1 200 OK\r\n\r\n{}", "no list of programs"),
        ] {
            assert_eq!(read(answer.as_bytes()), Err(said.into()));
        }
    }
}
