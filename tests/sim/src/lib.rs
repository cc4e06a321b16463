//! Simulated Universal Robots controller.
#![forbid(unsafe_code)]
