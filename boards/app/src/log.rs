//! The macros `info!` and `warn!`: defmt on a board, no output if no one collects frames (tests on a host).

macro_rules! info {
    ($format:literal $(, $argument:expr)* $(,)?) => {{
        #[cfg(feature = "defmt")]
        ::defmt::info!($format $(, $argument)*);
        #[cfg(not(feature = "defmt"))]
        let _ = ($(&$argument,)*);
    }};
}
