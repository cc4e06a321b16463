mod board;
mod host;
