//! No budgeted operation asks for memory.

mod counting;
mod operations;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

#[test]
fn a_control_cycle_asks_for_no_memory() {
    for mut operation in operations::all() {
        assert_eq!(counting::requests(&mut operation.run), 0, "{} (budget {} ns)", operation.name, operation.budget);
    }
}

#[test]
fn asking_for_memory_is_counted() {
    let asked = counting::requests(|| drop(std::hint::black_box(vec![0_u8; 100])));
    assert_eq!(asked, 1);
}
