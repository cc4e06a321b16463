//! Limits on the resources of a program. Controllers have such limits too; most of the controllers' values are not
//! published.

/// Limits on compiling and running a program. All of them are checked, and no input can exceed them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The greatest length of one program's text \[B\].
    pub source: usize,
    /// The greatest depth of nested blocks and expressions in a program.
    pub nesting: usize,
    /// The greatest number of parameters of one function.
    pub parameters: usize,
    /// The greatest number of function calls that were entered and not left, per thread.
    pub frames: usize,
    /// The greatest number of values on the stack at once, per thread.
    pub stack: usize,
    /// The greatest number of a program's living threads, including the main thread.
    pub threads: usize,
    /// The greatest depth of nested lists and structs; a matrix has two levels, a list of messages of ROS four.
    pub list_depth: usize,
    /// The greatest size of one value: each scalar, list and struct in it counts as one, a pose as six, and a text as
    /// one for each eight bytes and one more.
    pub list_weight: usize,
    /// The greatest length of one text value \[B\]; 1023 on controllers.
    pub text: usize,
    /// The greatest number of lines of interpreter mode since the last `clear_interpreter()`. Universal Robots
    /// publishes no limit. The default, 8500, is documented for the controller of another vendor.
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
