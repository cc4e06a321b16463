mod board;
mod host;
mod inputs;
mod places;
