//! The `outrigger` command as operators and scripts meet it: processes beside simulated controllers, over loopback.

mod ask;
mod command_line;
mod dashboard;
mod documentation;
mod examples;
mod front_door;
mod io;
mod krc;
mod moves;
mod moves_beside_krc;
mod paths;
mod pendant;
mod piped;
mod port;
mod record;
mod recordings;
mod recovery;
mod reverse;
mod script;
mod serial_sensor;
mod serve;
mod service;
mod surface;
mod terminal;
mod variables;
mod watch;
