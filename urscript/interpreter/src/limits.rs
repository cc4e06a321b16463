//! Bounds on what a program may take. Controllers have such bounds too; most of theirs are not published.

/// Bounds of compiling and running; every one is checked, none can be passed by input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one program's text.
    pub source: usize,
    /// Nesting of blocks and expressions.
    pub nesting: usize,
    /// Parameters of one function.
    pub parameters: usize,
    /// Functions that have been entered and not left, per thread.
    pub frames: usize,
    /// Values an expression may hold at once, per thread.
    pub stack: usize,
    /// Threads alive at once, with the main thread.
    pub threads: usize,
    /// Levels of lists and structs within each other; a matrix has two, a list of messages of ROS four.
    pub list_depth: usize,
    /// Scalars in one list.
    pub list_weight: usize,
    /// Bytes of one text; 1023 on controllers.
    pub text: usize,
    /// Lines of interpreter mode since the last `clear_interpreter()`; the vendor publishes none, 8500 are documented for the
    /// controller of somebody else.
    pub statements: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            source: 1 << 20,
            nesting: 64,
            parameters: 64,
            frames: 128,
            stack: 1 << 14,
            threads: 50,
            list_depth: 6,
            list_weight: 1 << 16,
            text: 1023,
            statements: 8500,
        }
    }
}
