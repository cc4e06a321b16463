//! Tests every variable of the specification on every software: the simulated controller has it if the table says so,
//! with the table's type, and its values are the simulation's.

use outrigger_oracle::rtde::{Variable, decode_package, decode_values, variables};
use outrigger_oracle::{Cell, Collector, Value, difference};
use outrigger_sim::controller::{Conn, Controller, Options};
use outrigger_sim::port::Port;
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::rtde::registry::Direction;
use outrigger_wire::rtde::{DynamicRecipe, Field, Package, Presence, Protocol, Reply, Request};

const SOFTWARE: [(u8, u8, u32); 16] = [
    (3, 4, 0),
    (3, 5, 0),
    (3, 9, 0),
    (3, 10, 0),
    (3, 11, 0),
    (3, 12, 2),
    (3, 12, 3),
    (3, 14, 0),
    (3, 15, 0),
    (5, 0, 0),
    (5, 3, 0),
    (5, 5, 0),
    (5, 5, 1),
    (5, 9, 0),
    (5, 15, 0),
    (5, 25, 0),
];

/// The number of variables' names in one RTDE request, because a list of names has at most 2048 bytes.
const NAMES_AT_ONCE: usize = 40;

fn controller((major, minor, bugfix): (u8, u8, u32), unconfirmed: bool) -> Controller {
    let mut options = Options::for_software(SoftwareVersion { major, minor, bugfix });
    options.rtde.unconfirmed = unconfirmed;
    Controller::new(options).expect("an arm that ran this software")
}

fn read(controller: &mut Controller, conn: Conn) -> Vec<Vec<u8>> {
    let mut bytes = vec![0; controller.pending(conn)];
    let mut filled = 0;
    while filled < bytes.len() {
        filled += controller.read(conn, &mut bytes[filled..]);
    }
    let mut packages = vec![];
    while !bytes.is_empty() {
        let size = usize::from(u16::from_be_bytes([bytes[0], bytes[1]]));
        packages.push(bytes.drain(..size).collect());
    }
    packages
}

/// Sends an RTDE request to the simulated controller and returns the answer, read by the tests' own decoder.
fn ask(controller: &mut Controller, conn: Conn, request: &[u8]) -> Vec<Cell> {
    assert_eq!(controller.write(conn, request), request.len());
    let answers = read(controller, conn);
    decode_package("reply", 2, answers.last().expect("an answer")).expect("a package")
}

fn words(cells: &[Cell]) -> Vec<String> {
    let Some(Value::Text(list)) = cells.iter().find(|cell| cell.name == "types").map(|cell| &cell.value) else {
        panic!("{cells:?} has no types")
    };
    String::from_utf8(list.clone()).expect("ASCII").split(',').map(str::to_owned).collect()
}

fn version_2(controller: &mut Controller) -> Conn {
    let conn = controller.connect(Port::Rtde).expect("a port that is open");
    ask(controller, conn, b"\0\x05V\0\x02");
    conn
}

fn request(names: &[&Variable], direction: Direction) -> Vec<u8> {
    let list = names.iter().map(|variable| variable.name.as_str()).collect::<Vec<_>>().join(",");
    let mut memory = [Field::EMPTY; NAMES_AT_ONCE];
    let recipe = DynamicRecipe::new(&list, direction, &mut memory).expect("room");
    let mut out = vec![0; 4096];
    let size = recipe.emit_request(Some(500.0), &mut out).expect("room");
    out.truncate(size);
    out
}

#[test]
fn each_software_has_the_variables_of_the_table_with_their_types() {
    for software in SOFTWARE {
        for unconfirmed in [false, true] {
            let mut controller = controller(software, unconfirmed);
            let conn = version_2(&mut controller);
            for direction in [Direction::Output, Direction::Input] {
                let travels = |v: &&Variable| if direction == Direction::Input { v.input } else { v.output };
                let all: Vec<_> = variables().iter().filter(travels).collect();
                for some in all.chunks(NAMES_AT_ONCE) {
                    let answered = words(&ask(&mut controller, conn, &request(some, direction)));
                    assert_eq!(answered.len(), some.len());
                    for (variable, word) in some.iter().zip(answered) {
                        let wanted = match variable.in_software(software) {
                            Some(true) => variable.word,
                            Some(false) => "NOT_FOUND",
                            None if !unconfirmed => "NOT_FOUND",
                            // Depends on the simulator's options, which the table does not know.
                            None if word == "NOT_FOUND" => "NOT_FOUND",
                            None => variable.word,
                        };
                        assert_eq!(word, wanted, "{} in {software:?}", variable.name);
                    }
                }
            }
        }
    }
    let newest = variables().iter().filter(|v| v.output).filter(|v| v.in_software((5, 25, 0)) != Some(false));
    let mut controller = controller((5, 25, 0), true);
    let conn = version_2(&mut controller);
    for some in newest.collect::<Vec<_>>().chunks(NAMES_AT_ONCE) {
        let answered = words(&ask(&mut controller, conn, &request(some, Direction::Output)));
        let missing: Vec<_> = some.iter().zip(&answered).filter(|(_, word)| *word == "NOT_FOUND").collect();
        assert!(missing.is_empty(), "the newest software has all: {missing:?}");
    }
}

fn doubles(cells: &[Cell], name: &str) -> Vec<f64> {
    let of_name = cells.iter().filter(|cell| cell.name == name);
    of_name
        .map(|cell| if let Value::F64(bits) = cell.value { f64::from_bits(bits) } else { panic!("{cell:?}") })
        .collect()
}

fn whole(cells: &[Cell], name: &str) -> i128 {
    let cell = cells.iter().find(|cell| cell.name == name).unwrap_or_else(|| panic!("no {name}"));
    if let Value::Integer(number) = cell.value { number } else { panic!("{cell:?}") }
}

#[test]
fn core_and_oracle_read_the_same_live_values_and_they_are_the_simulations() {
    let recipe = [
        ("timestamp", "DOUBLE"),
        ("actual_q", "VECTOR6D"),
        ("actual_qd", "VECTOR6D"),
        ("target_q", "VECTOR6D"),
        ("target_qd", "VECTOR6D"),
        ("actual_TCP_pose", "VECTOR6D"),
        ("actual_TCP_speed", "VECTOR6D"),
        ("target_TCP_pose", "VECTOR6D"),
        ("elbow_position", "VECTOR3D"),
        ("speed_scaling", "DOUBLE"),
        ("robot_mode", "INT32"),
        ("safety_mode", "INT32"),
        ("runtime_state", "UINT32"),
        ("robot_status_bits", "UINT32"),
        ("safety_status_bits", "UINT32"),
        ("joint_mode", "VECTOR6INT32"),
        ("actual_digital_output_bits", "UINT64"),
    ];
    for software in [(3, 15, 0), (5, 15, 0)] {
        let mut controller = controller(software, true);
        let conn = version_2(&mut controller);
        let names = recipe.map(|(name, _)| name).join(",");
        let mut memory = [Field::EMPTY; NAMES_AT_ONCE];
        let mut dynamic = DynamicRecipe::new(&names, Direction::Output, &mut memory).expect("room");
        let mut out = [0; 1024];
        let size = dynamic.emit_request(Some(125.0), &mut out).expect("room");
        assert_eq!(controller.write(conn, &out[..size]), size);
        let answer = read(&mut controller, conn).pop().expect("an answer");
        let package = Package::new_checked(&answer).expect("a package");
        let Ok(Reply::Outputs { recipe: Some(1), types }) = Reply::parse(&package, Protocol::V2) else { panic!() };
        dynamic.answered(types).expect("a word per name");
        assert!(dynamic.fields().iter().all(|field| matches!(field.presence, Presence::Present(_))));
        let size = Request::Start.emit(&mut out).expect("room");
        controller.write(conn, &out[..size]);

        let text = controller.connect(Port::Realtime).expect("a port that is open");
        controller
            .write(text, b"def p():\n set_digital_out(3, True)\n speedj([0.3,-0.2,0.1,0.4,-0.5,0.6],1.4,5)\nend\n");
        let mut seen = 0;
        for _ in 0..400 {
            // Between two cycles: this is the state that is sent next.
            let next = controller.next_event();
            let (arm, clock) = (controller.truth().clone(), controller.clock());
            controller.advance_to(next);
            for bytes in read(&mut controller, conn).into_iter().filter(|bytes| bytes[2] == b'U') {
                let package = Package::new_checked(&bytes).expect("a package");
                let Ok(Reply::Data { recipe: Some(1), values }) = Reply::parse(&package, Protocol::V2) else {
                    panic!()
                };
                let mut core = Collector::default();
                dynamic.read(values).expect("the recipe's size").visit(&mut core);
                let cells = decode_values(&recipe, values).expect("the recipe's size");
                assert_eq!(difference(&core.seen, &cells), None);
                seen += 1;

                assert!((doubles(&cells, "timestamp")[0] - clock.as_secs_f64()).abs() < 1e-9);
                assert_eq!(doubles(&cells, "actual_q"), arm.q);
                assert_eq!(doubles(&cells, "actual_qd"), arm.qd);
                assert_eq!(doubles(&cells, "target_q"), arm.targets.q);
                assert_eq!(doubles(&cells, "target_qd"), arm.targets.qd);
                assert_eq!(doubles(&cells, "actual_TCP_pose"), arm.tool().to_pose());
                assert_eq!(doubles(&cells, "actual_TCP_speed"), arm.tool_speed());
                assert_eq!(doubles(&cells, "target_TCP_pose"), arm.tool_target());
                assert_eq!(doubles(&cells, "elbow_position"), arm.elbow());
                assert_eq!(doubles(&cells, "speed_scaling"), [arm.scaling]);
                assert_eq!((whole(&cells, "robot_mode"), whole(&cells, "safety_mode")), (7, 1));
                assert_eq!((whole(&cells, "safety_status_bits"), whole(&cells, "joint_mode")), (1, 253));
            }
        }
        assert!(seen > 50, "{seen}");
        assert_eq!(controller.io().digital_out, 1 << 3);
        assert!(controller.truth().qd[0] > 0.1, "the arm moves meanwhile");
    }
}
