//! Reads any bytes as packages of 30004. Checks that they are written back unchanged, and that values are read as by
//! the oracle.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_tests::oracle::rtde::decode_values;
use outrigger_tests::oracle::{Collector, difference};
use outrigger_wire::rtde::registry::Direction;
use outrigger_wire::rtde::{
    DynamicRecipe, Field, NameList, Package, Presence, Protocol, Recipe, Reply, Request, TypeList, Variable,
};
use outrigger_wire::rtde_recipe;

rtde_recipe! {
    struct Fixed, view FixedView: outputs { timestamp, actual_q, joint_mode, output_bit_register_64, robot_mode }
}

/// Checks that a parsed reply is emitted as a package that is parsed to the same reply.
fn replies(package: &Package<'_>, protocol: Protocol) {
    let Ok(reply) = Reply::parse(package, protocol) else { return };
    reply.visit(package, &mut Collector::default());
    let mut out = vec![0xa5; package.size()];
    let size = reply.emit(&mut out).expect("no longer than it was");
    let again = Package::new_checked(&out[..size]).expect("a package");
    assert_eq!(Reply::parse(&again, protocol), Ok(reply));
    match reply {
        Reply::Data { values, .. } => fixed(values),
        Reply::Outputs { types, .. } | Reply::Inputs { types, .. } => {
            let _ = Fixed::check(types);
            assert!(types.iter().count() <= types.0.len());
        }
        _ => {}
    }
}

fn requests(package: &Package<'_>, protocol: Protocol) {
    let Ok(request) = Request::parse(package, protocol) else { return };
    let (mut one, mut two) = (vec![0xa5; package.size()], vec![0x5a; package.size()]);
    let size = request.emit(&mut one).expect("no longer than it was");
    let again = Package::new_checked(&one[..size]).expect("a package");
    let again = Request::parse(&again, protocol).expect("the same letter");
    assert_eq!(again.emit(&mut two), Ok(size));
    assert_eq!(one[..size], two[..size]);
    if let Request::SetupOutputs { names, .. } | Request::SetupInputs { names } = request {
        for name in names.iter().filter_map(|name| std::str::from_utf8(name).ok()) {
            for direction in [Direction::Input, Direction::Output] {
                assert!(Variable::named(name, direction).is_none_or(|variable| variable.to_string() == name));
            }
        }
    }
}

fn fixed(values: &[u8]) {
    let Ok(view) = FixedView::new(values) else { return };
    let mut out = vec![0; Fixed::PACKAGE];
    assert_eq!(view.to_values().emit(1, &mut out), Ok(Fixed::PACKAGE));
    let names: Vec<_> = Fixed::NAMES.split(',').zip(Fixed::TYPES).map(|(name, kind)| (name, kind.word())).collect();
    compare(&names, values);
}

/// Compares the values that the core and the oracle (the independent reader of the tests) read from data of a recipe.
/// The recipe consists of names with the controller's type words.
fn compare(recipe: &[(&str, &str)], values: &[u8]) {
    let names = recipe.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(",");
    let words = recipe.iter().map(|(_, word)| *word).collect::<Vec<_>>().join(",");
    let mut memory = vec![Field::EMPTY; recipe.len()];
    let mut dynamic = DynamicRecipe::new(&names, Direction::Output, &mut memory).expect("room for all");
    dynamic.answered(TypeList(words.as_bytes())).expect("a word per name");
    let Ok(data) = dynamic.read(values) else { return };
    let mut core = Collector::default();
    data.visit(&mut core);
    let present =
        recipe.iter().zip(dynamic.fields()).filter(|(_, field)| matches!(field.presence, Presence::Present(_)));
    let present: Vec<_> = present.map(|(pair, _)| *pair).collect();
    let cells = decode_values(&present, values).expect("values of that size");
    assert_eq!(difference(&core.seen, &cells), None, "{names}");
}

/// Compares core and oracle (the independent reader of the tests) for a recipe of the outputs that the bytes `names`
/// select, with the type words `words`. The recipe has the length of the shorter list.
fn any_recipe(names: &[u8], words: &[u8], values: &[u8]) {
    let text = |item| std::str::from_utf8(item).unwrap_or("?");
    let words: Vec<_> = NameList(words).iter().map(text).filter(|word| !word.is_empty()).collect();
    let known = Variable::all(Direction::Output).map(|variable| variable.to_string()).collect::<Vec<_>>();
    let names: Vec<_> = names.iter().map(|byte| known[usize::from(*byte) % known.len()].as_str()).collect();
    let recipe: Vec<_> = names.into_iter().zip(words).collect();
    if !recipe.is_empty() {
        compare(&recipe, values);
    }
}

// A package as it is; and the same bytes as three parts, ended by line feeds: a byte per name, type words, values.
fuzz_target!(|bytes: &[u8]| {
    if let Ok(package) = Package::new_checked(bytes) {
        assert_eq!(package.size(), bytes.len());
        for protocol in [Protocol::V1, Protocol::V2] {
            replies(&package, protocol);
            requests(&package, protocol);
        }
    }
    fixed(bytes);
    let mut parts = bytes.splitn(3, |byte| *byte == b'\n');
    if let (Some(names), Some(words), Some(values)) = (parts.next(), parts.next(), parts.next()) {
        any_recipe(names, words, values);
    }
});
