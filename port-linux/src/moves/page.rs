//! A page on how an arm followed a motion.

use std::fmt::Write as _;

use crate::motion::Moment;
use crate::report::plot::{Line, Span, TimeChart, escape};
use crate::report::{JOINTS, figure, key};
use crate::robot::Followed;

const CLASSES: [&str; 6] = ["j0", "j1", "j2", "j3", "j4", "j5"];

/// The page: one file that needs nothing else.
pub(super) fn html(file: &str, robot: &str, path: &str, followed: &Followed<6>) -> String {
    let mut page = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.push_str("<title>Outrigger move</title>\n<style>\n");
    page.push_str(include_str!("../report/style.css"));
    page.push_str("</style>\n</head>\n<body>\n<main>\n");
    let (class, verdict) =
        if followed.is_done { ("good", "✓ done".to_owned()) } else { ("bad", format!("✗ {}", followed.ended)) };
    let _ = write!(
        page,
        "<header><h1>Outrigger move</h1><p class=\"lead\">{} on the robot {}, by {}.</p><p class=\"verdict {class}\">{}</p>\
         </header>\n<div class=\"tiles\">",
        escape(file),
        escape(robot),
        path,
        escape(&verdict)
    );
    for (value, unit, name) in [
        (format!("{:.2}", followed.worst.max_abs() * 1e3), "mrad", "farthest a joint was from where it was wanted"),
        (format!("{:.2}", followed.end_error.max_abs() * 1e3), "mrad", "of the worst joint from the goal, at the end"),
        (format!("{:.1}", followed.elapsed.as_secs_f64()), "s", "of the motion's own time"),
    ] {
        let _ = write!(
            page,
            "<div class=\"tile\"><div class=\"value\">{value}<small>{unit}</small></div><div class=\"name\">{name}</div></div>"
        );
    }
    page.push_str(
        "</div>\n<section><h2>Wanted and actual</h2><p>Dashed: where the motion wants a joint. Solid: where the \
                   controller measures it. Time is the controller's. Point at a line for its name.</p>\n",
    );
    let moments = &followed.moments;
    let time = Span::new(0.0, moments.last().map_or(1.0, |moment| moment.seconds.max(1e-3)));
    positions(&mut page, moments, time);
    errors(&mut page, moments, time);
    scaling(&mut page, moments, time);
    page.push_str("</section>\n<footer>Outrigger performs no safety function.</footer>\n</main>\n</body>\n</html>\n");
    page
}

type Series = Vec<(f64, f64)>;

fn series(moments: &[Moment<6>], of: impl Fn(&Moment<6>) -> f32) -> Series {
    moments.iter().map(|moment| (moment.seconds, f64::from(of(moment)))).collect()
}

fn keys() -> String {
    JOINTS.iter().zip(CLASSES).map(|(name, class)| key(class, name)).collect()
}

fn chart(
    page: &mut String,
    title: &str,
    unit: &str,
    time: Span,
    least: Span,
    lines: &[(String, String, Series)],
    keys: &str,
) {
    let values = Span::around(lines.iter().flat_map(|(_, _, points)| points.iter().map(|(_, value)| *value)), least);
    let lines: Vec<_> = lines.iter().map(|(name, class, points)| Line { name, class, points }).collect();
    let chart =
        TimeChart { title, unit, height: 330.0, time, values, bands: &[], marks: &[], limits: &[], lines: &lines };
    figure(page, title, keys, &chart.svg());
}

fn positions(page: &mut String, moments: &[Moment<6>], time: Span) {
    let lines: Vec<_> = (0..6)
        .flat_map(|joint| {
            let wanted = series(moments, |moment| moment.wanted.0[joint]);
            let actual = series(moments, |moment| moment.actual.0[joint]);
            [
                (format!("{}, wanted", JOINTS[joint]), format!("{} wanted", CLASSES[joint]), wanted),
                (format!("{}, actual", JOINTS[joint]), CLASSES[joint].to_owned(), actual),
            ]
        })
        .collect();
    chart(page, "Joint angles", "angle [rad]", time, Span::new(-0.01, 0.01), &lines, &keys());
}

fn errors(page: &mut String, moments: &[Moment<6>], time: Span) {
    let lines: Vec<_> = (0..6)
        .map(|joint| {
            let off = series(moments, |moment| (moment.actual.0[joint] - moment.wanted.0[joint]) * 1e3);
            (JOINTS[joint].to_owned(), CLASSES[joint].to_owned(), off)
        })
        .collect();
    chart(page, "Actual minus wanted", "error [mrad]", time, Span::new(-0.1, 0.1), &lines, &keys());
}

fn scaling(page: &mut String, moments: &[Moment<6>], time: Span) {
    let share = series(moments, |moment| moment.scaling * 100.0);
    let lines = [("speed scaling".to_owned(), "j0".to_owned(), share)];
    chart(page, "The robot's speed slider and limiter", "speed scaling [%]", time, Span::new(0.0, 100.0), &lines, "");
}
