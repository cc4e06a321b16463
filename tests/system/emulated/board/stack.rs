//! A stack overflow is caught: by a region of the MPU on a Cortex-M4F, by the stack limit register on a Cortex-M33.

use outrigger_emulated::qemu::{Command, Process};

use super::*;

pub(crate) fn tests() -> Vec<Timed> {
    vec![timed("a_stack_that_is_used_up_is_a_fault_by_name", BOARD, |machine| {
        let firmware = firmware(machine, SLOW);
        let mut command = Command::new(machine, firmware.elf());
        command.options = vec!["fault=stack".into()];
        command.limit = Some(PATIENCE);
        let mut process = Process::start(&command).expect("QEMU starts");
        let exit = loop {
            process.output();
            match process.exit() {
                Some(exit) => break exit,
                None => process.wait(),
            }
        };
        process.output();
        assert_eq!(exit, Exit::Failure(1), "{}", process.complaints());
        assert!(process.complaints().contains("stack overflow"), "{}", process.complaints());
    })]
}
