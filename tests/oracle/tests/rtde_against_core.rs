//! Compares RTDE in the core with the oracle: variables, packages and values.

use outrigger_oracle::noise::Noise;
use outrigger_oracle::rtde::{decode_package, decode_values, variables};
use outrigger_oracle::{Cell, Collector, Value, difference};
use outrigger_wire::fields::FieldVisitor;
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::rtde::registry::{Direction, Since};
use outrigger_wire::rtde::{
    ControllerVersion, DynamicRecipe, Field, Level, NameList, Package, Protocol, Recipe, Reply, Request, TextMessage,
    TypeList, Variable,
};
use outrigger_wire::rtde_recipe;

const RUNS: usize = 300;

#[test]
fn the_registry_is_the_table_of_the_specification() {
    for direction in [Direction::Input, Direction::Output] {
        let travels = |v: &&outrigger_oracle::rtde::Variable| match direction {
            Direction::Input => v.input,
            Direction::Output => v.output,
        };
        let theirs: Vec<_> = variables().iter().filter(travels).collect();
        assert_eq!(Variable::all(direction).count(), theirs.len());
        for wanted in theirs {
            let found = Variable::named(&wanted.name, direction).unwrap_or_else(|| panic!("no {}", wanted.name));
            assert_eq!((found.data_type().word(), found.unit()), (wanted.word, wanted.unit), "{}", wanted.name);
            let reported = match found.since() {
                Since::Unconfirmed { reported: Some(v) } => format!("? {}.{}", v.major, v.minor),
                Since::Unconfirmed { reported: None } => "?".to_owned(),
                Since::Rtde | Since::Release { .. } => wanted.since.to_owned(),
            };
            assert_eq!(reported, wanted.since, "{}", wanted.name);
            for (major, minors) in [(1, 4..=8), (3, 0..=15), (5, 0..=25), (10, 0..=12)] {
                for (minor, bugfix) in minors.flat_map(|minor| (0..4).map(move |bugfix| (minor, bugfix))) {
                    let software = SoftwareVersion { major, minor, bugfix };
                    let reached = found.since().reached(software);
                    assert_eq!(reached, wanted.in_software((major, minor, bugfix)), "{} in {software}", wanted.name);
                }
            }
        }
    }
}

/// Returns random RTDE variables for a recipe of this direction: their names, and those of their types.
fn some_recipe(direction: Direction, noise: &mut Noise) -> Vec<(&'static str, &'static str)> {
    let all: Vec<_> =
        variables().iter().filter(|v| if direction == Direction::Input { v.input } else { v.output }).collect();
    (0..1 + noise.below(40)).map(|_| all[noise.below(all.len())]).map(|v| (v.name.as_str(), v.word)).collect()
}

fn joined<'a>(items: impl Iterator<Item = &'a str>) -> String {
    items.collect::<Vec<_>>().join(",")
}

#[test]
fn any_values_of_any_recipe_read_the_same() {
    let mut noise = Noise::seeded(30_004);
    for _ in 0..RUNS {
        let wanted = some_recipe(Direction::Output, &mut noise);
        let names = joined(wanted.iter().map(|(name, _)| *name));
        let words = joined(wanted.iter().map(|(_, word)| *word));
        let mut memory = [Field::EMPTY; 64];
        let mut recipe = DynamicRecipe::new(&names, Direction::Output, &mut memory).expect("room");
        recipe.answered(TypeList(words.as_bytes())).expect("an answer of the same length");
        let values = noise.bytes(recipe.size().expect("all types known"));
        let data = recipe.read(&values).expect("values of that size");
        let mut core = Collector::default();
        data.visit(&mut core);
        let cells = decode_values(&wanted, &values).expect("values of that size");
        assert_eq!(difference(&core.seen, &cells), None, "{names}");
        assert_eq!(cells.last().map(|cell| cell.end), Some(values.len()));

        // Written again, they are the same bytes, except flags, where every number except 0 is true.
        let read: Vec<_> = data.iter().map(|(_, value)| value.expect("a value")).collect();
        let mut written = vec![0xa5; values.len() + 4];
        assert_eq!(recipe.emit_data(7, &read, &mut written), Ok(values.len() + 4));
        let mut again = Collector::default();
        recipe.read(&written[4..]).expect("values of that size").visit(&mut again);
        assert_eq!(difference(&again.seen, &cells), None, "{names}");
    }
}

rtde_recipe! {
    /// A recipe with one RTDE variable of each type.
    struct EachType, view EachTypeView: outputs {
        output_bit_register_64, tool_output_mode, runtime_state, actual_digital_input_bits, robot_mode, timestamp,
        elbow_position, actual_TCP_pose, joint_mode,
    }
}

#[test]
fn a_recipe_made_when_compiling_reads_what_the_oracle_reads() {
    let mut noise = Noise::seeded(5);
    let of_name = |name: &str| variables().iter().find(|v| v.name == name).expect("a known name");
    let wanted: Vec<_> = EachType::NAMES.split(',').map(|name| (name, of_name(name).word)).collect();
    assert_eq!(EachType::check(TypeList(joined(wanted.iter().map(|(_, word)| *word)).as_bytes())), Ok(()));
    for _ in 0..RUNS {
        let values = noise.bytes(EachType::SIZE);
        let cells = decode_values(&wanted, &values).expect("values of that size");
        let of = |name: &str| cells.iter().filter(|c| c.name == name).map(|c| c.value.clone()).collect::<Vec<_>>();
        let view = EachTypeView::new(&values).expect("values of that size");
        let doubles = |values: &[f64]| values.iter().map(|v| Value::F64(v.to_bits())).collect::<Vec<_>>();
        assert_eq!(doubles(&[view.timestamp()]), of("timestamp"));
        assert_eq!(doubles(&view.elbow_position()), of("elbow_position"));
        assert_eq!(doubles(&view.actual_TCP_pose()), of("actual_TCP_pose"));
        assert_eq!(view.joint_mode().map(|v| Value::Integer(v.into())).to_vec(), of("joint_mode"));
        assert_eq!(vec![Value::Integer(view.robot_mode().into())], of("robot_mode"));
        assert_eq!(vec![Value::Integer(view.tool_output_mode().into())], of("tool_output_mode"));
        assert_eq!(vec![Value::Integer(view.runtime_state().into())], of("runtime_state"));
        assert_eq!(vec![Value::Integer(view.actual_digital_input_bits().into())], of("actual_digital_input_bits"));
        assert_eq!(view.output_bit_register_64(), of("output_bit_register_64") != [Value::Integer(0)]);

        let mut written = vec![0; EachType::PACKAGE];
        view.to_values().emit(9, &mut written).expect("room");
        let same = |range: std::ops::Range<usize>| written[4..][range.clone()] == values[range];
        assert!(same(1..EachType::SIZE), "all but the flag is what it was");
    }
}

fn text(most: usize, noise: &mut Noise) -> Vec<u8> {
    let count = noise.below(most);
    noise.bytes(count)
}

/// Returns random words as a comma-separated list, as RTDE sends names and types, without an empty item.
fn list(noise: &mut Noise) -> Vec<u8> {
    let words = ["DOUBLE", "NOT_FOUND", "IN_USE", "VECTOR6D", "timestamp", "x"];
    joined((0..noise.below(9)).map(|_| words[noise.below(words.len())])).into_bytes()
}

/// Returns the fields of an RTDE reply that `outrigger_wire` decoded, with the list of types as one text, as it is
/// sent.
fn shown(reply: &Reply<'_>, package: &Package<'_>) -> Vec<outrigger_oracle::Seen> {
    let mut collector = Collector::default();
    reply.visit(package, &mut collector);
    let (words, mut rest): (Vec<_>, Vec<_>) = collector.seen.into_iter().partition(|seen| seen.name() == "types");
    if matches!(reply, Reply::Outputs { .. } | Reply::Inputs { .. }) {
        let word = |value: &Value| match value {
            Value::Text(word) => String::from_utf8(word.clone()).expect("ASCII"),
            other => panic!("{other:?} is no word"),
        };
        let words: Vec<_> = words.iter().map(|seen| word(&seen.value)).collect();
        let mut whole = Collector::default();
        whole.field("types", outrigger_wire::fields::Value::Text(words.join(",").as_bytes()));
        rest.extend(whole.seen);
    }
    rest
}

const PROTOCOLS: [(Protocol, u8); 2] = [(Protocol::V1, 1), (Protocol::V2, 2)];

#[test]
fn any_reply_the_core_writes_is_read_by_the_oracle_and_back() {
    let mut noise = Noise::seeded(6);
    for (protocol, version) in PROTOCOLS {
        for _ in 0..RUNS {
            let numbered = version == 2;
            let (message, source, words) = (text(256, &mut noise), text(256, &mut noise), list(&mut noise));
            let level = Level::from_raw(noise.below(6) as u8);
            let recipe = numbered.then_some(noise.below(256) as u8);
            let accepted = noise.below(2) == 1;
            let number = noise.below(1 << 20) as u32;
            let replies = [
                Reply::ProtocolVersion { accepted },
                Reply::ControllerVersion(ControllerVersion { major: 5, minor: number, bugfix: 2, build: u32::MAX }),
                Reply::Text(TextMessage { level, message: &message, source: numbered.then_some(&source) }),
                Reply::Outputs { recipe, types: TypeList(&words) },
                Reply::Inputs { recipe: noise.below(256) as u8, types: TypeList(&words) },
                Reply::Start { accepted },
                Reply::Pause { accepted },
                Reply::Data { recipe, values: &message },
            ];
            for reply in replies {
                let mut bytes = vec![0; 1024];
                let size = reply.emit(&mut bytes).expect("room");
                bytes.truncate(size);
                let package = Package::new_checked(&bytes).expect("a package");
                assert_eq!(Reply::parse(&package, protocol), Ok(reply));
                let cells = decode_package("reply", version, &bytes).expect("a package");
                assert_eq!(cells.last().map(|cell| cell.end), Some(size), "{reply:?}");
                assert_eq!(difference(&shown(&reply, &package), &cells), None, "{reply:?}");
            }
        }
    }
}

#[test]
fn any_request_the_core_writes_is_read_by_the_oracle_and_back() {
    let mut noise = Noise::seeded(7);
    for (protocol, version) in PROTOCOLS {
        for _ in 0..RUNS {
            let (message, source, names) = (text(256, &mut noise), text(256, &mut noise), list(&mut noise));
            let (number, recipe) = (noise.below(65_536) as u16, noise.below(256) as u8);
            let level = Level::from_raw(noise.below(6) as u8);
            let frequency = (version == 2).then_some(noise.below(500) as f64);
            let with = |cells: &mut Vec<(&'static str, Value)>, name, value| cells.push((name, value));
            let text_of = |bytes: &[u8]| Value::Text(bytes.to_vec());
            let number_of = |number: u32| Value::Integer(number.into());
            let requests = [
                (Request::ProtocolVersion(number), vec![("protocol_version", number_of(number.into()))]),
                (Request::ControllerVersion, vec![]),
                (Request::Start, vec![]),
                (Request::Pause, vec![]),
                (
                    Request::Text(TextMessage { level, message: &message, source: Some(&source) }),
                    vec![
                        ("message", text_of(&message)),
                        ("source", text_of(&source)),
                        ("warning_level", number_of(level.raw().into())),
                    ],
                ),
                (Request::SetupOutputs { frequency, names: NameList(&names) }, {
                    let mut cells = vec![];
                    if let Some(frequency) = frequency {
                        with(&mut cells, "output_frequency", Value::F64(frequency.to_bits()));
                    }
                    with(&mut cells, "names", text_of(&names));
                    cells
                }),
                (Request::SetupInputs { names: NameList(&names) }, vec![("names", text_of(&names))]),
                (Request::Data { recipe, values: &message }, {
                    let mut cells = vec![("recipe_id", number_of(recipe.into()))];
                    cells.extend(message.iter().map(|byte| ("values", number_of((*byte).into()))));
                    cells
                }),
            ];
            for (request, wanted) in requests {
                let mut bytes = vec![0; 1024];
                let size = request.emit(&mut bytes).expect("room");
                bytes.truncate(size);
                assert_eq!(Request::parse(&Package::new_checked(&bytes).expect("a package"), protocol), Ok(request));
                let cells = decode_package("request", version, &bytes).expect("a package");
                let found: Vec<_> =
                    cells[2..].iter().map(|Cell { name, value, .. }| (name.as_str(), value.clone())).collect();
                assert_eq!(found, wanted, "{request:?}");
            }
        }
    }
}
