//! Checks that the laws command the same bits on this machine as on the board. `tests/thumb/instructions` checks the
//! board.

use outrigger_cycles::commands;

#[test]
fn the_laws_command_the_same_bits_here_as_on_the_board() {
    let here = commands::fingerprints();
    assert_eq!(here, commands::FINGERPRINTS, "{here:#018x?}: every recorded run changes with it");
}
