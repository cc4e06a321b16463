//! Creates the HTML page about the tracking of a motion.

use std::fmt::Write as _;

use crate::report::plot::{Line, STYLE, Span, TimeChart, escape};
use crate::report::{HOW_TO_READ, end, figure, key};
use outrigger::motion::Moment;
use outrigger::released::ReleasedBy;
use outrigger::robot::{Ended, Followed};
use outrigger::show::reason_text::joint_names;

const CLASSES: [&str; 7] = ["j0", "j1", "j2", "j3", "j4", "j5", "j6"];

/// Returns the HTML page about the tracking of a motion, as one self-contained file.
pub(super) fn html<const N: usize>(file: &str, robot: &str, sent: &str, followed: &Followed<N>) -> String {
    let mut page = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.push_str("<title>Outrigger move</title>\n<style>\n");
    page.push_str(STYLE);
    page.push_str("</style>\n</head>\n<body>\n<main>\n");
    let (class, verdict) = match followed.ended {
        _ if followed.is_done => ("good", "✓ done".to_owned()),
        Ended::Released(ReleasedBy::Finished) => ("bad", "✗ ended, but too far from the goal".to_owned()),
        ended => ("bad", format!("✗ {ended}")),
    };
    let _ = write!(
        page,
        "<header><h1>Outrigger move</h1><p class=\"lead\">{} on the robot {}: {}.</p><p class=\"verdict {class}\">{}</p>\
         </header>\n<div class=\"tiles\">",
        escape(file),
        escape(robot),
        sent,
        escape(&verdict)
    );
    for (value, unit, name) in [
        (format!("{:.2}", followed.worst.max_abs() * 1e3), "mrad", "maximum tracking error of a joint"),
        (format!("{:.2}", followed.end_error.max_abs() * 1e3), "mrad", "final error of the worst joint"),
        (format!("{:.1}", followed.elapsed.as_secs_f64()), "s", "of the motion's own time"),
    ] {
        let _ = write!(
            page,
            "<div class=\"tile\"><div class=\"value\">{value}<small>{unit}</small></div><div class=\"name\">{name}</div></div>"
        );
    }
    let _ = writeln!(
        page,
        "</div>\n<section><h2>Target and actual</h2><p>Dashed: target angle of a joint. Solid: measured angle. Time \
         is the controller's. {HOW_TO_READ}</p>"
    );
    let moments = &followed.moments;
    let time = Span::new(0.0, moments.last().map_or(1.0, |moment| moment.seconds.max(1e-3)));
    positions(&mut page, moments, time);
    errors(&mut page, moments, time);
    scaling(&mut page, moments, time);
    page.push_str("</section>\n<footer>Outrigger performs no safety function.</footer>\n</main>\n");
    end(&mut page);
    page
}

type Series = Vec<(f64, f64)>;

fn series<const N: usize>(moments: &[Moment<N>], of: impl Fn(&Moment<N>) -> f32) -> Series {
    moments.iter().map(|moment| (moment.seconds, f64::from(of(moment)))).collect()
}

/// Returns the index of each joint, its name, and the CSS class for the colour of its line.
fn joints<const N: usize>() -> impl Iterator<Item = (usize, (&'static str, &'static str))> {
    joint_names(N).iter().copied().zip(CLASSES).enumerate()
}

fn keys<const N: usize>() -> String {
    joints::<N>().map(|(_, (name, class))| key(class, name)).collect()
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
    let chart = TimeChart {
        title,
        unit,
        height: 330.0,
        time,
        values,
        bands: &[],
        marks: &[],
        named: &[],
        limits: &[],
        lines: &lines,
    };
    figure(page, title, keys, |paper| chart.svg(paper));
}

fn positions<const N: usize>(page: &mut String, moments: &[Moment<N>], time: Span) {
    let lines: Vec<_> = joints::<N>()
        .flat_map(|(joint, (name, class))| {
            let wanted = series(moments, |moment| moment.wanted.0[joint]);
            let actual = series(moments, |moment| moment.actual.0[joint]);
            [
                (format!("{name}, target"), format!("{class} wanted"), wanted),
                (format!("{name}, actual"), class.to_owned(), actual),
            ]
        })
        .collect();
    chart(page, "Joint angles", "angle [rad]", time, Span::new(-0.01, 0.01), &lines, &keys::<N>());
}

fn errors<const N: usize>(page: &mut String, moments: &[Moment<N>], time: Span) {
    let lines: Vec<_> = joints::<N>()
        .map(|(joint, (name, class))| {
            let off = series(moments, |moment| (moment.actual.0[joint] - moment.wanted.0[joint]) * 1e3);
            (name.to_owned(), class.to_owned(), off)
        })
        .collect();
    chart(
        page,
        "Tracking error (actual minus target)",
        "error [mrad]",
        time,
        Span::new(-0.1, 0.1),
        &lines,
        &keys::<N>(),
    );
}

fn scaling<const N: usize>(page: &mut String, moments: &[Moment<N>], time: Span) {
    let share = series(moments, |moment| moment.scaling * 100.0);
    let lines = [("speed scaling".to_owned(), "j0".to_owned(), share)];
    chart(page, "The robot's speed slider and limiter", "speed scaling [%]", time, Span::new(0.0, 100.0), &lines, "");
}
