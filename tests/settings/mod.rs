//! Every number and word of every key, as `outrigger-config` reads it and as the pages offer it.

mod documentation;
mod ranges;
