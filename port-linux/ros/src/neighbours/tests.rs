use std::net::Ipv4Addr;

use super::*;
use outrigger_ros2_messages::{NodeEntities, ParticipantEntities, WideGid};

const JOINTS: &str = "sensor_msgs::msg::dds_::JointState_";

fn gid(of: u8, number: u8) -> Gid {
    let mut gid = [0; 16];
    (gid[0], gid[15]) = (of, number);
    Gid(gid)
}

fn ours(side: Side, topic: &str, kind: &str, qos: Qos) -> OwnEndpoint {
    OwnEndpoint { side, topic: topic.into(), kind: kind.into(), qos }
}

fn offered() -> Offered {
    Offered {
        node: "/cell/outrigger".into(),
        distro: Distro::Jazzy,
        endpoints: vec![
            ours(Side::Writes, "rt/joint_states", JOINTS, Qos::BEST_EFFORT),
            ours(Side::Writes, "rt/robot_mode", "ur_dashboard_msgs::msg::dds_::RobotMode_", Qos::LATCHED),
            ours(Side::Writes, "rt/tf", "tf2_msgs::msg::dds_::TFMessage_", Qos::SYSTEM),
            ours(Side::Reads, "rt/follow", "trajectory_msgs::msg::dds_::JointTrajectory_", Qos::SERVICES),
            ours(Side::Reads, "rq/set_ioRequest", "ur_msgs::srv::dds_::SetIO_Request_", Qos::SERVICES),
            ours(Side::Writes, "rr/set_ioReply", "ur_msgs::srv::dds_::SetIO_Response_", Qos::SERVICES),
        ],
    }
}

fn theirs(of: u8, side: Side, topic: &str, kind: &str, qos: Qos) -> Endpoint {
    Endpoint {
        gid: gid(of, 1),
        side,
        topic: topic.into(),
        kind: kind.into(),
        qos,
        type_hash: None,
        at: Some(Ipv4Addr::new(10, 0, 0, of).into()),
    }
}

/// Returns the endpoints with one participant each, of Cyclone DDS.
fn seen(endpoints: Vec<Endpoint>) -> Neighbourhood {
    let participants = endpoints.iter().map(|of| Participant { prefix: prefix(of.gid), vendor: [1, 0x10] }).collect();
    Neighbourhood { participants, endpoints, nodes: vec![] }
}

fn node(of: u8, name: &str, width: Width, endpoints: Vec<Gid>) -> Nodes {
    Nodes { prefix: prefix(gid(of, 0)), width, nodes: vec![(name.into(), endpoints)] }
}

#[track_caller]
fn one(found: &[Finding], about: About, words: &[&str]) {
    let [finding] = found else { panic!("{found:#?}") };
    assert!(finding.about == about && finding.fix, "{finding:?}");
    for word in words {
        assert!(finding.text.contains(word), "'{word}' in {}", finding.text);
    }
}

#[test]
fn whoever_fits_is_no_finding() {
    let fit = seen(vec![
        theirs(1, Side::Reads, "rt/joint_states", JOINTS, Qos::BEST_EFFORT),
        theirs(2, Side::Reads, "rt/robot_mode", "ur_dashboard_msgs::msg::dds_::RobotMode_", Qos::BEST_EFFORT),
        theirs(3, Side::Writes, "rt/tf", "tf2_msgs::msg::dds_::TFMessage_", Qos::SYSTEM),
        theirs(4, Side::Writes, "rt/follow", "trajectory_msgs::msg::dds_::JointTrajectory_", Qos::SYSTEM),
        theirs(5, Side::Writes, "rq/set_ioRequest", "ur_msgs::srv::dds_::SetIO_Request_", Qos::SERVICES),
        theirs(5, Side::Reads, "rr/set_ioReply", "ur_msgs::srv::dds_::SetIO_Response_", Qos::SERVICES),
        theirs(6, Side::Writes, "rt/elsewhere", JOINTS, Qos::SYSTEM),
    ]);
    assert_eq!(findings(&offered(), &fit), []);
}

#[test]
fn a_node_of_the_same_name_is_found_and_one_of_another_is_not() {
    let mut seen = seen(vec![theirs(1, Side::Reads, "rt/x", JOINTS, Qos::SYSTEM)]);
    seen.nodes = vec![node(1, "/outrigger", Width::Narrow, vec![])];
    assert_eq!(findings(&offered(), &seen), []);
    seen.nodes = vec![node(1, "/cell/outrigger", Width::Narrow, vec![])];
    one(
        &findings(&offered(), &seen),
        About::SameName,
        &["a node named /cell/outrigger already runs (Cyclone DDS, at 10.0.0.1)", "--namespace"],
    );
}

#[test]
fn a_second_provider_is_named_by_what_it_serves_before_what_it_publishes() {
    let publishes = theirs(1, Side::Writes, "rt/joint_states", JOINTS, Qos::SYSTEM);
    let serves = theirs(1, Side::Reads, "rq/set_ioRequest", "ur_msgs::srv::dds_::SetIO_Request_", Qos::SERVICES);
    let mut both = seen(vec![publishes.clone(), serves]);
    both.nodes = vec![node(1, "/ur", Width::Narrow, vec![gid(1, 1)])];
    one(
        &findings(&offered(), &both),
        About::SecondProvider,
        &["node /ur (Cyclone DDS", "offers the same service as this node: /set_io."],
    );
    let one_only = seen(vec![publishes]);
    one(
        &findings(&offered(), &one_only),
        About::SecondProvider,
        &["a program without a node name (Cyclone DDS", "publishes on the same topic as this node: /joint_states."],
    );
}

#[test]
fn of_many_names_three_are_said() {
    let names: BTreeSet<String> = (0..5).map(|number| format!("/n{number}")).collect();
    assert_eq!(Listed(&names).to_string(), "/n0, /n1, /n2 and 2 more");
}

#[test]
fn a_reader_that_asks_for_more_is_told_what_it_is_offered() {
    let reliable = seen(vec![theirs(1, Side::Reads, "rt/joint_states", JOINTS, Qos::SYSTEM)]);
    one(
        &findings(&offered(), &reliable),
        About::Qos,
        &["subscribes to /joint_states and requires", "(reliable)", "(best effort)", "offer_reliable = true"],
    );
    let latched = seen(vec![theirs(1, Side::Reads, "rt/tf", "tf2_msgs::msg::dds_::TFMessage_", Qos::LATCHED)]);
    one(
        &findings(&offered(), &latched),
        About::Qos,
        &["subscribes to /tf and requires", "(transient local)", "Set that reader to volatile"],
    );
}

#[test]
fn a_writer_that_offers_less_is_not_heard() {
    let writes = theirs(1, Side::Writes, "rt/follow", "trajectory_msgs::msg::dds_::JointTrajectory_", Qos::BEST_EFFORT);
    one(
        &findings(&offered(), &seen(vec![writes])),
        About::Qos,
        &["sends /follow with a weaker QoS", "Set that sender to reliable"],
    );
}

/// Checks each pair of the qualities of service (QoS) of a sender and a receiver against the rules of DDS.
#[test]
fn every_pair_of_qualities_is_judged_as_dds_matches() {
    let all = [false, true]
        .into_iter()
        .flat_map(|reliable| [false, true].into_iter().map(move |latched| Qos { reliable, latched, depth: 1 }));
    for given in all.clone() {
        for asked in all.clone() {
            let mut offered = offered();
            offered.endpoints = vec![ours(Side::Writes, "rt/a", JOINTS, given)];
            let reads = seen(vec![theirs(1, Side::Reads, "rt/a", JOINTS, asked)]);
            let fits = given.reliable >= asked.reliable && given.latched >= asked.latched;
            assert_eq!(findings(&offered, &reads).is_empty(), fits, "{given:?} {asked:?}");
            offered.endpoints = vec![ours(Side::Reads, "rt/a", JOINTS, asked)];
            let writes = seen(vec![theirs(1, Side::Writes, "rt/a", JOINTS, given)]);
            assert_eq!(findings(&offered, &writes).is_empty(), fits, "{given:?} {asked:?}");
        }
    }
}

#[test]
fn another_type_and_another_layout_are_told_apart() {
    let other = seen(vec![theirs(1, Side::Reads, "rt/joint_states", "a::msg::dds_::B_", Qos::BEST_EFFORT)]);
    one(
        &findings(&offered(), &other),
        About::Type,
        &["reads /joint_states with the message type a/msg/B", "it is sensor_msgs/msg/JointState", "--namespace"],
    );
    let mut layout = theirs(1, Side::Reads, "rt/joint_states", JOINTS, Qos::BEST_EFFORT);
    layout.type_hash = type_hash::of(JOINTS).map(Into::into);
    assert_eq!(findings(&offered(), &seen(vec![layout.clone()])), []);
    layout.type_hash = Some(format!("RIHS01_{}", "0".repeat(64)));
    one(
        &findings(&offered(), &seen(vec![layout])),
        About::Type,
        &["another definition of the message sensor_msgs/msg/JointState", "update its package sensor_msgs"],
    );
}

#[test]
fn another_release_is_known_by_how_it_tells_of_its_nodes_and_by_its_hashes() {
    let at = |distro| Offered { distro, ..offered() };
    let mut seen = seen(vec![theirs(1, Side::Reads, "rt/x", JOINTS, Qos::SYSTEM)]);
    seen.nodes = vec![node(1, "/a", Width::Wide, vec![])];
    assert_eq!(findings(&at(Distro::Humble), &seen), []);
    one(&findings(&at(Distro::Jazzy), &seen), About::Distro, &["node /a", "Humble or older", "--distro humble"]);
    seen.nodes = vec![node(1, "/a", Width::Narrow, vec![])];
    assert_eq!(findings(&at(Distro::Jazzy), &seen), []);
    one(&findings(&at(Distro::Humble), &seen), About::Distro, &["Iron or newer", "jazzy"]);
    seen.nodes.clear();
    assert_eq!(findings(&at(Distro::Humble), &seen), []);
    seen.endpoints[0].type_hash = Some(format!("RIHS01_{}", "0".repeat(64)));
    one(&findings(&at(Distro::Humble), &seen), About::Distro, &["a program without a node name"]);
}

fn told<G: Copy>(of: [G; 3], names: &[(&str, &str)]) -> ParticipantEntities<G> {
    let node = |(namespace, name): &(&str, &str)| NodeEntities {
        node_namespace: (*namespace).into(),
        node_name: (*name).into(),
        reader_gid_seq: vec![of[1]],
        writer_gid_seq: vec![of[2]],
    };
    ParticipantEntities { gid: of[0], node_entities_info_seq: names.iter().map(node).collect() }
}

#[test]
fn nodes_are_read_in_either_width() {
    let gids = [gid(1, 0), gid(1, 1), gid(1, 2)];
    for names in [&[][..], &[("/", "a")], &[("/", "a"), ("/cell/arm", "bcd"), ("", "ef")]] {
        let narrow = Nodes::read(&encode(&told(gids, names))).expect("16 bytes");
        let wide = Nodes::read(&encode(&told(gids.map(WideGid::from), names))).expect("24 bytes");
        assert_eq!((narrow.width, wide.width), (Width::Narrow, Width::Wide), "{names:?}");
        assert_eq!((&narrow.nodes, narrow.prefix), (&wide.nodes, prefix(gids[0])));
        assert_eq!(narrow.nodes.len(), names.len());
    }
    let named = Nodes::read(&encode(&told(gids, &[("/cell/arm", "b"), ("/", "c")]))).expect("16 bytes");
    assert_eq!(named.nodes[0], ("/cell/arm/b".into(), vec![gid(1, 1), gid(1, 2)]));
    assert_eq!(named.nodes[1].0, "/c");
    let whole = encode(&told(gids, &[("/", "a")]));
    for length in 0..whole.len() {
        assert!(Nodes::read(&whole[..length]).is_err(), "{length} bytes");
    }
}

fn around(interface: [u8; 4]) -> Surroundings {
    around_all(&[(interface, Multicast::Returns)])
}

fn around_all(interfaces: &[([u8; 4], Multicast)]) -> Surroundings {
    Surroundings {
        interfaces: interfaces.iter().map(|(at, multicast)| (IpAddr::from(*at), multicast.clone())).collect(),
        domain: 3,
        peers: vec![],
        port: None,
        heard: vec![],
    }
}

const HERE: [u8; 4] = [127, 0, 0, 1];
const NETWORK: [u8; 4] = [10, 0, 0, 9];

#[test]
fn nobody_is_worth_knowing_and_says_where_to_look() {
    let found = surroundings(&around(HERE), &Neighbourhood::default());
    assert!(
        matches!(&found[..], [one] if !one.fix && one.text.contains("set --interface") && one.text.contains("prints 3\n")),
        "{found:?}"
    );
    let found = surroundings(&around(NETWORK), &Neighbourhood::default());
    assert!(
        matches!(&found[..], [one] if !one.fix && one.text.contains("Set --peer") && one.text.contains("in that network (10.0.0.9)")),
        "{found:?}"
    );
    let somebody = seen(vec![theirs(1, Side::Reads, "rt/x", JOINTS, Qos::SYSTEM)]);
    assert_eq!(surroundings(&around(NETWORK), &somebody), []);
}

#[test]
fn others_on_another_interface_are_to_be_followed_where_nobody_is_here() {
    let heard = Announcement {
        prefix: prefix(gid(7, 0)),
        vendor: [1, 0x0f],
        from: IpAddr::from([10, 0, 0, 5]),
        facing: IpAddr::from(NETWORK),
    };
    let around = Surroundings { heard: vec![heard], ..around(HERE) };
    one(
        &surroundings(&around, &Neighbourhood::default()),
        About::Discovery,
        &["Fast DDS", "10.0.0.5", "this node uses 127.0.0.1", "--interface 10.0.0.9"],
    );
    let somebody = seen(vec![theirs(1, Side::Reads, "rt/x", JOINTS, Qos::SYSTEM)]);
    assert!(matches!(&surroundings(&around, &somebody)[..], [one] if !one.fix));
    // A participant that is both announced and found causes no finding.
    let the_same = seen(vec![theirs(7, Side::Reads, "rt/x", JOINTS, Qos::SYSTEM)]);
    assert_eq!(surroundings(&around, &the_same), []);
}

#[test]
fn multicast_that_does_not_come_back_matters_where_it_is_needed() {
    let somebody = seen(vec![theirs(1, Side::Reads, "rt/x", JOINTS, Qos::SYSTEM)]);
    for multicast in [Multicast::Lost, Multicast::Refused("no route".into())] {
        let lost = around_all(&[(HERE, Multicast::Lost), (NETWORK, multicast.clone())]);
        one(&surroundings(&lost, &somebody), About::Discovery, &["239.255.0.1", "10.0.0.9", "--peer"]);
        let named = Surroundings { peers: vec!["10.0.0.5".into()], ..lost };
        assert_eq!(surroundings(&named, &somebody), []);
        assert_eq!(surroundings(&around_all(&[(HERE, multicast.clone())]), &somebody), []);
        // Multicast on one of several networks is enough.
        let one_has = around_all(&[(NETWORK, multicast), ([10, 1, 0, 9], Multicast::Returns)]);
        assert_eq!(surroundings(&one_has, &somebody), []);
    }
}

#[test]
fn a_port_that_somebody_has_for_himself_is_named() {
    let taken = Surroundings { port: Some("Address already in use".into()), ..around(HERE) };
    let somebody = seen(vec![theirs(1, Side::Reads, "rt/x", JOINTS, Qos::SYSTEM)]);
    one(&surroundings(&taken, &somebody), About::Discovery, &["UDP port 8150", "domain 3", "ss -ulpn"]);
}

/// A participant that announces itself here and announces nothing else is not counted as reachable, because its
/// messages may arrive in one direction alone.
#[test]
fn somebody_who_is_heard_and_does_not_answer_is_told_of() {
    let heard = Announcement {
        prefix: prefix(gid(7, 0)),
        vendor: [1, 0x10],
        from: IpAddr::from([10, 0, 0, 5]),
        facing: IpAddr::from(NETWORK),
    };
    let around = Surroundings { heard: vec![heard], ..around(NETWORK) };
    let announced = Neighbourhood {
        participants: vec![Participant { prefix: prefix(gid(7, 0)), vendor: [1, 0x10] }],
        ..Neighbourhood::default()
    };
    let found = surroundings(&around, &announced);
    assert!(
        matches!(&found[..], [one] if !one.fix && one.text.contains("sends to 10.0.0.5") && one.text.contains("8150 to 8399")),
        "{found:?}"
    );
}

#[test]
fn callers_of_set_payload_are_told_which_fields_are_expected() {
    let mut offered = offered();
    let (topic, kind) = ("rq/set_payloadRequest", "ur_msgs::srv::dds_::SetPayload_Request_");
    offered.endpoints.push(ours(Side::Reads, topic, kind, Qos::SERVICES));
    let caller = seen(vec![theirs(1, Side::Writes, topic, kind, Qos::SERVICES)]);
    for (distro, field) in [(Distro::Humble, "center_of_gravity"), (Distro::Rolling, "one field payload")] {
        let found = findings(&Offered { distro, ..offered.clone() }, &caller);
        assert!(matches!(&found[..], [one] if !one.fix && one.text.contains(field)), "{found:?}");
    }
    let of_another = seen(vec![theirs(1, Side::Writes, "rq/b/set_payloadRequest", kind, Qos::SERVICES)]);
    assert_eq!(findings(&offered, &of_another), []);
}
