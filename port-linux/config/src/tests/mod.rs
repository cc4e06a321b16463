mod board;
mod documentation;
mod host;
mod inputs;
mod ranges;
