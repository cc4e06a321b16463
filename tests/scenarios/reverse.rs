//! Commands by a program of ours that connects to us.

use outrigger_core::engine::Input;
use outrigger_core::engine::ur::CommandPath;
use outrigger_core::mode::Mode;
use outrigger_core::robot::SoftwareVersion;
use outrigger_tests::cosim::{Buffers, Rig, Setup};

use super::{ms, secs};

fn setup(software: SoftwareVersion, speed: f32) -> Setup {
    let mut setup = Setup::sweep(software, speed);
    setup.config.peer.path = CommandPath::ReverseSpeedJ;
    setup
}

#[test]
fn a_program_of_ours_carries_joint_speeds_and_ends_with_the_release() {
    for software in [(3, 0), (3, 2), (3, 5), (3, 15), (5, 0), (5, 15), (5, 25), (10, 11)] {
        let software = SoftwareVersion::new(software.0, software.1);
        for mut buffers in [Buffers::default(), Buffers::with_rtde()] {
            let mut rig = Rig::new(setup(software, 0.5), &mut buffers);
            rig.controller.keep_texts();
            rig.ready();
            rig.request();
            rig.run_for(secs(2));
            println!("refused {}", rig.controller.refused_programs());
            rig.run_to(Mode::Command);
            rig.run_for(ms(500));
            let story = rig.record().story();
            assert!(
                (rig.controller.truth().qd[0] - 0.5).abs() < 0.01,
                "{software}: {:?}\n{story}",
                rig.controller.truth().qd
            );
            rig.input(Input::Release);
            rig.run_to(Mode::Monitor);
            rig.run_for(secs(1));
            let story = rig.record().story();
            assert!(rig.controller.truth().at_rest(), "{software}\n{story}");
            assert_eq!(rig.engine().latch(), None, "{story}");
            assert!(!rig.controller.program().0, "the program has ended\n{story}");
            rig.command();
            rig.run_for(ms(500));
            assert!((rig.controller.truth().qd[0] - 0.5).abs() < 0.01, "{software}: again");
        }
    }
}
