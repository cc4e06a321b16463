mod board;
mod host;
mod inputs;
mod names;
mod places;
