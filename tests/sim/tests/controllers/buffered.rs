//! Buffered `servoj` as in the vendor's article, for a minute at 500 Hz while the slider moves.

use crate::common::{Bench, i32_at, ideal};
use outrigger_sim::controller::{Action, Conn};
use outrigger_sim::port::Port;

const PROGRAM: &str = include_str!("programs_of_users/buffered_servoj.script");
/// The number of joint positions that the client sends to the program: a minute of control cycles.
const COUNT: i32 = 30_000;
/// The number of sent positions, not yet executed by the program, at which the client stops sending.
const MOST: i32 = 900;

/// Returns the joint positions \[rad\] that the client sends as number `n`: slow waves from `start` that begin and end
/// at rest.
fn position(start: [f64; 6], n: i32) -> [f64; 6] {
    let t = f64::from(n) * 0.002;
    let wave = |rate: f64| 0.2 * (1.0 - (std::f64::consts::TAU * rate * t / 60.0).cos());
    let rates = [6.0, 3.0, 5.0, 4.0, 7.0, 9.0];
    std::array::from_fn(|joint| start[joint] + wave(rates[joint]))
}

fn send(bench: &mut Bench, conn: Conn, recipe: u8, sent: i32, complete: i32, q: [f64; 6]) {
    let mut payload = vec![recipe];
    payload.extend(sent.to_be_bytes());
    payload.extend(complete.to_be_bytes());
    q.iter().for_each(|value| payload.extend(value.to_be_bytes()));
    bench.package(conn, b'U', &payload);
}

#[test]
fn a_ring_of_a_thousand_positions_is_played_in_order_while_the_slider_moves() {
    let mut bench = Bench::new(ideal(5, 15));
    let names: Vec<String> = [24, 25].iter().map(|n| format!("input_int_register_{n}")).collect();
    let doubles: Vec<String> = (24..30).map(|n| format!("input_double_register_{n}")).collect();
    let client = bench.subscribe(500.0, "output_int_register_24,output_int_register_25");
    bench.package(client, b'I', [names, doubles].concat().join(",").as_bytes());
    let recipe = bench.answer(client, b'I')[0];
    let start = bench.controller.truth().q;
    send(&mut bench, client, recipe, 0, 0, start);

    let text = PROGRAM.replace("ONES", &vec!["1"; 1000].join(", "));
    let primary = bench.connect(Port::Primary);
    bench.send(primary, &text);
    bench.run(500);
    assert!(bench.controller.program().0, "{:?}", bench.told(primary));

    let (mut sent, mut taken, mut played, mut most, mut worst) = (0, 0, 0, 0, 0.0_f64);
    let sliders = [1.0, 0.5, 0.8, 0.25, 1.0, 0.1, 0.6];
    let mut cycles = 0_usize;
    bench.packages(client);
    while bench.controller.program().0 && cycles < 200_000 {
        if cycles.is_multiple_of(2500) {
            bench.controller.act(Action::Slider(sliders[cycles / 2500 % sliders.len()]));
        }
        cycles += 1;
        // One new position in each cycle, while the previous ones arrive and there is room.
        if sent - taken > 4 {
            sent = taken;
        }
        if sent < COUNT && sent - played < MOST {
            sent += 1;
        }
        send(&mut bench, client, recipe, sent, i32::from(sent == COUNT && taken == COUNT), position(start, sent));
        bench.next_cycle();
        let data = bench.packages(client).into_iter().rfind(|(letter, _)| *letter == b'U');
        if let Some((_, payload)) = data {
            (taken, played) = (i32_at(&payload, 1), i32_at(&payload, 5));
            most = most.max(taken - played);
        }
        // The arm is on the sent path, a little behind the position that was played last.
        let q = bench.controller.truth().q;
        let off = |n: i32| {
            let on = position(start, n.max(0));
            q.iter().zip(on).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        worst = worst.max((played - 60..=played + 2).map(off).fold(f64::INFINITY, f64::min));
    }
    assert_eq!((sent, taken, played), (COUNT, COUNT, COUNT), "after {cycles} cycles");
    assert!(most > 100 && most <= 1000, "the ring filled while the slider was low: {most}");
    assert!(worst < 2e-3, "off the way by {worst} rad");
    assert!(cycles > 40_000, "a slow slider takes time: {cycles}");
    println!("{cycles} cycles, at most {most} positions waiting, off the way by at most {worst:.6} rad");
}
