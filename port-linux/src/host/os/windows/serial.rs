//! Serial devices, of which this system opens none.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::not_here;

/// # Errors
/// Always.
pub fn open(_: &Path, _: u32) -> io::Result<File> {
    Err(not_here())
}

/// # Errors
/// Always.
pub fn open_to_write(_: &Path, _: u32) -> io::Result<File> {
    Err(not_here())
}

/// # Errors
/// Always.
pub fn pseudo(_: u32) -> io::Result<(File, PathBuf)> {
    Err(not_here())
}

/// # Errors
/// Always.
pub fn name(_: &Path, _: &Path) -> io::Result<()> {
    Err(not_here())
}

/// # Errors
/// Always.
pub fn unsent(_: &File) -> io::Result<usize> {
    Err(not_here())
}

/// Whether nobody has the device of a pseudo terminal open.
pub const fn is_unheard(_: &File) -> bool {
    false
}

/// Drops what was written and has not left.
pub const fn forget(_: &File) {}
