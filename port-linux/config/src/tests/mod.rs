mod board;
mod host;
mod ranges;
