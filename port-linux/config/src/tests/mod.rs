mod board;
mod documentation;
mod host;
mod ranges;
