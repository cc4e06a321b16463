//! Formats lines about the effect of a configuration, for people.

use outrigger_core::command::Limits;

/// A line about a configuration's effect: a name, and a text.
pub type Line = (&'static str, String);

/// Returns a warning if the position limits of the joints are the defaults, which are too wide for any robot cell.
/// `None` otherwise.
pub(crate) fn open_positions<const N: usize>(limits: &Limits<N>) -> Option<String> {
    let default = Limits::<N>::default();
    let open = limits.position_min == default.position_min && limits.position_max == default.position_max;
    open.then(|| {
        let [least, most] = [default.position_min, default.position_max].map(|angles| joints(angles.as_array()));
        format!(
            "limits.position_min and position_max are not set: every joint may turn from {least} to {most} rad; set \
             them to what is free around the arm"
        )
    })
}

/// Formats one value per joint, or a single value if all joints have the same.
pub(crate) fn joints(values: &[f32]) -> String {
    match values {
        [first, rest @ ..] if rest.iter().all(|value| value == first) => first.to_string(),
        values => format!("{values:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_limits_are_missed_until_the_file_sets_one_of_them() {
        let mut limits = Limits::<6>::default();
        let warning = open_positions(&limits).expect("the defaults");
        assert!(warning.contains("every joint may turn from -6.2831855 to 6.2831855 rad"), "{warning}");
        limits.position_max.0[2] = 1.5;
        assert_eq!(open_positions(&limits), None);
    }
}
