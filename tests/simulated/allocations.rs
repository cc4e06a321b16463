//! Checks that no budgeted operation allocates memory.

#[path = "../bench/budgets/counting.rs"]
mod counting;
#[path = "../bench/budgets/operations.rs"]
mod operations;

use outrigger_cycles::{answering, cycle};

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

#[test]
fn no_operation_of_a_control_cycle_asks_for_memory() {
    for mut operation in operations::all() {
        assert_eq!(counting::requests(&mut operation.run), 0, "{} (budget {} ns)", operation.name, operation.budget);
    }
}

#[test]
fn the_engine_answers_a_state_without_asking_for_memory() {
    cycle::each(|name, _, cycle| {
        for _ in 0..100 {
            cycle.prepare();
            assert_eq!(counting::requests(|| cycle.answer()), 0, "{name}");
            assert!(cycle.is_commanding(), "{name}");
        }
    });
}

#[test]
fn the_engine_answers_a_state_by_a_program_without_asking_for_memory() {
    cycle::each_program(|name, _, cycle| {
        for _ in 0..100 {
            cycle.prepare();
            assert_eq!(counting::requests(|| cycle.answer()), 0, "{name}");
            assert!(cycle.is_commanding(), "{name}");
        }
    });
}

#[test]
fn the_engine_answers_a_measurement_without_asking_for_memory() {
    answering::each(|name, _, answering| {
        for _ in 0..100 {
            answering.prepare();
            assert_eq!(counting::requests(|| answering.answer()), 0, "{name}");
            assert!(answering.is_commanding(), "{name}");
        }
    });
}

#[test]
fn asking_for_memory_is_counted() {
    let asked = counting::requests(|| drop(std::hint::black_box(vec![0_u8; 100])));
    assert_eq!(asked, 1);
}
