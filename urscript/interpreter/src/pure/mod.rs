//! Functions that need no host because they depend only on their arguments (external control, 5.3).

pub(super) mod lists;
pub(super) mod poses;
pub(super) mod strings;

use super::error::FaultKind;
use super::limits::Limits;
use super::value::Value;

type Outcome = Result<Value, FaultKind>;

fn arg(args: &[Value], index: usize) -> &Value {
    args.get(index).unwrap_or(&Value::None)
}

fn number(operation: &'static str, args: &[Value], index: usize) -> Result<f64, FaultKind> {
    let value = arg(args, index);
    value.number().ok_or(FaultKind::Type { operation, found: value.kind() })
}

fn float(operation: &'static str, value: f64) -> Outcome {
    if value.is_finite() { Ok(Value::Float(value)) } else { Err(FaultKind::Domain(operation)) }
}

fn whole(operation: &'static str, value: f64) -> Outcome {
    if value >= f64::from(i32::MIN) && value <= f64::from(i32::MAX) {
        Ok(Value::Int(value as i32))
    } else {
        Err(FaultKind::Domain(operation))
    }
}

pub(super) fn norm(args: &[Value], _: &Limits) -> Outcome {
    let found = || FaultKind::Type { operation: "norm", found: arg(args, 0).kind() };
    match arg(args, 0) {
        Value::Int(value) => value.checked_abs().map(Value::Int).ok_or(FaultKind::Overflow("norm")),
        Value::Float(value) => Ok(Value::Float(value.abs())),
        Value::Pose(values) => Ok(Value::Float(values.iter().map(|v| v * v).sum::<f64>().sqrt())),
        Value::List(items) => {
            let mut sum = 0.0;
            for item in items {
                let value = item.number().ok_or_else(found)?;
                sum += value * value;
            }
            Ok(Value::Float(sum.sqrt()))
        }
        _ => Err(found()),
    }
}

pub(super) fn floor(args: &[Value], _: &Limits) -> Outcome {
    whole("floor", number("floor", args, 0)?.floor())
}

pub(super) fn ceil(args: &[Value], _: &Limits) -> Outcome {
    whole("ceil", number("ceil", args, 0)?.ceil())
}

pub(super) fn sqrt(args: &[Value], _: &Limits) -> Outcome {
    float("sqrt", number("sqrt", args, 0)?.sqrt())
}

pub(super) fn pow(args: &[Value], _: &Limits) -> Outcome {
    float("pow", number("pow", args, 0)?.powf(number("pow", args, 1)?))
}

pub(super) fn sin(args: &[Value], _: &Limits) -> Outcome {
    float("sin", number("sin", args, 0)?.sin())
}

pub(super) fn cos(args: &[Value], _: &Limits) -> Outcome {
    float("cos", number("cos", args, 0)?.cos())
}

pub(super) fn tan(args: &[Value], _: &Limits) -> Outcome {
    float("tan", number("tan", args, 0)?.tan())
}

pub(super) fn asin(args: &[Value], _: &Limits) -> Outcome {
    float("asin", number("asin", args, 0)?.asin())
}

pub(super) fn acos(args: &[Value], _: &Limits) -> Outcome {
    float("acos", number("acos", args, 0)?.acos())
}

pub(super) fn atan(args: &[Value], _: &Limits) -> Outcome {
    float("atan", number("atan", args, 0)?.atan())
}

/// Returns the logarithm of a number. Arguments: base, then number.
pub(super) fn log(args: &[Value], _: &Limits) -> Outcome {
    float("log", number("log", args, 1)?.log(number("log", args, 0)?))
}

/// Returns the angle of a point in the plane \[rad\]. Arguments: x, then y.
pub(super) fn atan2(args: &[Value], _: &Limits) -> Outcome {
    let (x, y) = (number("atan2", args, 0)?, number("atan2", args, 1)?);
    float("atan2", y.atan2(x))
}

pub(super) fn d2r(args: &[Value], _: &Limits) -> Outcome {
    float("d2r", number("d2r", args, 0)?.to_radians())
}

pub(super) fn r2d(args: &[Value], _: &Limits) -> Outcome {
    float("r2d", number("r2d", args, 0)?.to_degrees())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(values: &[f64]) -> Value {
        Value::List(values.iter().copied().map(Value::Float).collect())
    }

    #[test]
    #[expect(clippy::approx_constant, reason = "the manual's own numbers")]
    fn norm_follows_the_vectors_of_the_manual() {
        let limits = Limits::default();
        let Ok(Value::Float(of_pose)) = norm(&[Value::Pose([-0.2, 0.2, -0.2, -1.57, 0.0, 3.14])], &limits) else {
            panic!("a float")
        };
        assert!((of_pose - 3.52768).abs() < 1e-5, "{of_pose}");
        assert_eq!(norm(&[Value::Int(-5)], &limits), Ok(Value::Int(5)));
        assert_eq!(norm(&[list(&[3.0, -4.0])], &limits), Ok(Value::Float(5.0)));
        assert!(norm(&[Value::Bool(true)], &limits).is_err());
    }

    #[test]
    fn functions_refuse_arguments_outside_their_domain() {
        let limits = Limits::default();
        assert_eq!(log(&[Value::Int(2), Value::Int(8)], &limits), Ok(Value::Float(3.0)));
        assert_eq!(log(&[Value::Int(2), Value::Int(-1)], &limits), Err(FaultKind::Domain("log")));
        assert_eq!(sqrt(&[Value::Int(-1)], &limits), Err(FaultKind::Domain("sqrt")));
        assert_eq!(pow(&[Value::Float(-2.0), Value::Float(0.5)], &limits), Err(FaultKind::Domain("pow")));
        assert_eq!(pow(&[Value::Int(0), Value::Int(-1)], &limits), Err(FaultKind::Domain("pow")));
        assert_eq!(floor(&[Value::Float(1e12)], &limits), Err(FaultKind::Domain("floor")));
        assert_eq!(floor(&[Value::Float(-1.5)], &limits), Ok(Value::Int(-2)));
        assert_eq!(ceil(&[Value::Float(1.2)], &limits), Ok(Value::Int(2)));
    }
}
