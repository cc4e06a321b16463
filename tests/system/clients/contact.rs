//! Contact through ur_rtde: force mode, contact detection, guiding by hand, and the ways in which its control script
//! ends and is started again.

use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::surface::Surface;
use outrigger_sim::tcp::Running;
use outrigger_wire::robot::SoftwareVersion;

use super::control::{Range, near, part, yes};
use super::{Q, Understood, serve_with};

const CONTACT: &str = "ur_rtde_contact.py";
/// The distance of the simulated contact surface below the tool at the start \[m\].
const BELOW: f64 = 0.02;
/// The stiffness of the simulated contact surface \[N/m\].
const STIFFNESS: f64 = 20_000.0;

fn over_a_surface(software: SoftwareVersion) -> Running {
    let options = Options { q: Q, ..Options::for_software(software) };
    let controller = Controller::new(options.clone()).expect("a controller that existed");
    let [x, y, z] = controller.truth().tool().position;
    let surface = Surface::new([x, y, z - BELOW], [0.0, 0.0, 1.0], STIFFNESS, 100.0);
    serve_with(Options { surface, ..options })
}

fn within(told: &Understood, name: &str, least: f64, most: f64) {
    let found = told.get(name);
    assert!(found.iter().all(|value| (least..=most).contains(value)), "{name}: {found:?} is not in {least} to {most}");
}

/// Checks that ur_rtde's force mode reaches and holds a force of 20 N on a surface, and that the arm does not creep
/// after force mode has ended.
pub(super) fn presses_with_a_force(software: SoftwareVersion, range: Range) {
    let told = part(&over_a_surface(software), range, CONTACT, "force");
    yes(&told, &["zeroed", "stopped"]);
    within(&told, "force", 17.0, 23.0);
    near(&told, "depth", &[BELOW + 20.0 / STIFFNESS], 0.5e-3);
    near(&told, "crept", &[0.0], 1e-3);
}

/// Checks that every call of ur_rtde that detects contacts notices one, and that the arm moves back to the point of
/// first contact. The control script of ur_rtde for CB3 has none of these calls.
pub(super) fn notices_contacts(software: SoftwareVersion, range: Range) {
    let told = part(&over_a_surface(software), range, CONTACT, "contact");
    told.is("free", &[0.0]);
    yes(&told, &["until", "detection", "detected"]);
    for name in ["until.depth", "detected.depth"] {
        near(&told, name, &[BELOW], 0.5e-3);
    }
    assert!(told.get("touched")[0] > 0.0, "the tool rests on the surface");
}

/// Checks that the simulated arm follows a hand in ur_rtde's freedrive and teach mode only, and only along free axes.
/// The hand presses down with 30 N for half a second, every 1.5 s.
pub(super) fn is_guided_by_hand(software: SoftwareVersion, range: Range) {
    let faults = (0..40).map(|n| format!("hand@{}ms:500ms:30", 3_000 + 1_500 * n).parse().expect("a fault")).collect();
    let server = serve_with(Options { q: Q, faults, ..Options::for_software(software) });
    let told = part(&server, range, CONTACT, "guided");
    let down = |name: &str| -told.get(name)[2];
    if software.at_least(5, 0) {
        yes(&told, &["freedrive", "status", "freedrive.ended", "along"]);
        assert!(down("all") > 0.01, "{:?}", told.get("all"));
        assert!(down("across").abs() < 1e-3, "{:?}", told.get("across"));
    }
    yes(&told, &["teach", "teach.ended"]);
    assert!(down("taught") > 0.01, "{:?}", told.get("taught"));
    near(&told, "none", &[0.0; 3], 1e-3);
}

/// Checks that ur_rtde can move the arm again after each event that ends its control script: the watchdog, custom
/// scripts, `stopScript` and a reconnection.
pub(super) fn ends_and_begins_again(software: SoftwareVersion, range: Range) {
    let server = serve_with(Options { q: Q, ..Options::for_software(software) });
    let told = part(&server, range, CONTACT, "endings");
    for name in ["moves", "uploaded.moves", "script.moves"] {
        near(&told, name, &[1.0, 0.05], 1e-3);
    }
    // On PolyScope X the client crashes in `reconnect`, because it connects to the dashboard server, which is absent
    // there.
    if software.major < 10 {
        yes(&told, &["disconnected", "reconnected"]);
        near(&told, "reconnected.moves", &[1.0, 0.05], 1e-3);
    }
    yes(&told, &["running", "watchdog", "kicked", "unkicked", "uploaded", "function", "file", "file.off", "script"]);
    yes(&told, &["stopped", "moving", "protective"]);
    told.is("function.on", &[4.0]);
    told.is("script.on", &[4.0]);
}
