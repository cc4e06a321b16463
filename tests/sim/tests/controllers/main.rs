//! The simulated controllers from outside: what an independent client sees.

mod common;
mod dashboard;
mod dynamics;
mod external_control;
mod faults;
mod forces;
mod freedrive;
mod insertion;
mod interpreter;
mod krc;
mod looking;
mod moves;
mod operator;
mod outputs;
mod popups;
mod programs;
mod properties;
mod publication;
mod remote;
mod robot_api;
mod rtde;
mod scheduling;
mod services;
mod socket_client;
mod sockets;
mod ways_in;
