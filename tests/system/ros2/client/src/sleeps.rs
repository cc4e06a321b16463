//! Judges whether a client finds a node again that was stopped for longer than its lease.

use std::io::stdin;
use std::time::{Duration, Instant};

use ros2_client::Client;

use super::{ANSWER, Nothing, Version, call, until};

/// The time for which the node is stopped \[s\]: longer than its lease, which is 50 s.
const ASLEEP: u32 = 60;
/// The time limit from the end of the stop until a call is answered.
const BOUND: Duration = Duration::from_secs(5);

/// Returns `true` if a request is answered in time.
fn answers(client: &Client<Nothing, Version>) -> Result<bool, String> {
    let asked = client.send_request(Nothing::default()).map_err(|error| format!("not sent: {error:?}"))?;
    let answer = until(ANSWER / 2, || match client.receive_response() {
        Ok(Some((of, _))) if of == asked => Some(Ok(true)),
        Ok(_) => None,
        Err(error) => Some(Err(format!("not understood: {error:?}"))),
    });
    answer.unwrap_or(Ok(false))
}

/// Asks for the node to be stopped for [`ASLEEP`], and measures the time from the end of the stop until the node
/// answers.
///
/// # Errors
/// Returns an error if the node does not answer in time, or if a call fails.
pub fn judge(client: &Client<Nothing, Version>) -> Result<(), String> {
    call(client)?;
    println!("do sleep node {ASLEEP}");
    stdin().read_line(&mut String::new()).map_err(|error| error.to_string())?;
    let awake = Instant::now();
    while !answers(client)? {
        if awake.elapsed() > BOUND {
            return Err(format!("a call is not answered {BOUND:?} after it is awake"));
        }
    }
    println!("answered: {:.2}", awake.elapsed().as_secs_f64());
    Ok(())
}
