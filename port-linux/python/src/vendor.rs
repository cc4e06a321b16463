//! The two kinds of robots behind one class of Python.

/// A value for a robot of Universal Robots, which has six joints, or for a KUKA LWR, which has seven.
#[derive(Clone)]
pub(crate) enum Of<U, K> {
    Ur(U),
    Krc(K),
}

/// Evaluates an expression for the value of either kind.
macro_rules! each {
    ($of:expr, $value:pat => $then:expr) => {
        match $of {
            $crate::vendor::Of::Ur($value) => $then,
            $crate::vendor::Of::Krc($value) => $then,
        }
    };
}
pub(crate) use each;
