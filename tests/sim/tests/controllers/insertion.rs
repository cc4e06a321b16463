//! A program in the style of users: it presses a part into its seat with 20 N.

use outrigger_sim::controller::Options;
use outrigger_sim::port::Port;
use outrigger_sim::surface::Surface;
use outrigger_wire::robot::SoftwareVersion;

use crate::common::Bench;

const PROGRAM: &str = include_str!("programs_of_users/insertion.script");
/// The distance below the tool of the seat into which the program presses a part \[m\].
const BELOW: f64 = 0.03;

#[test]
fn a_part_is_pressed_into_seats_of_any_stiffness_with_the_force_that_is_asked_for() {
    for (minor, stiffness) in [(15, 5_000.0), (15, 20_000.0), (23, 40_000.0)] {
        let options = Options::for_software(SoftwareVersion::new(5, minor));
        let [x, y, z] = Bench::new(options.clone()).controller.truth().tool().position;
        let surface = Surface::new([x, y, z - BELOW], [0.0, 0.0, 1.0], stiffness, 100.0);
        let mut bench = Bench::new(Options { surface, ..options });
        let primary = bench.connect(Port::Primary);
        bench.send(primary, PROGRAM);
        let mut told = vec![];
        for _ in 0..300 {
            bench.run(100);
            told.extend(bench.told(primary));
            if !bench.controller.program().0 && bench.controller.cycles() > 100 {
                break;
            }
        }
        assert!(told.iter().any(|text| text.contains("inserted")), "{stiffness} N/m: {told:?}");
        let registers = bench.controller.registers().1;
        let [least, largest, depth] = [0, 1, 2].map(|n| registers.doubles[n]);
        assert!(least > 17.0 && largest < 23.0, "{stiffness} N/m: {least} to {largest} N");
        // The compression of the spring under 20 N is added.
        assert!((depth - BELOW - 20.0 / stiffness).abs() < 1e-3, "{stiffness} N/m: {depth} m");
        let end = bench.controller.truth().tool().position;
        assert!((end[2] - z).abs() < 1e-3 && (end[0] - x).abs() < 1e-3, "{stiffness} N/m: it ended at {end:?}");
    }
}
