mod board;
mod host;
mod inputs;
