//! PolyScope X scripts that use ROS 2, in virtual time: the driver's view of their outputs, and its inputs.

use std::time::Duration;

use outrigger_ros2_messages::cdr::encode;
use outrigger_ros2_messages::endpoint::Qos;
use outrigger_ros2_messages::{Flag, Int32, Int64, JointState, Text, TriggerResponse};
use outrigger_sim::controller::{Conn, Options};
use outrigger_sim::port::Port;
use outrigger_sim::ros::{End, RosOptions, RosOutput};

use crate::common::{Bench, ideal};

/// A simulated controller with a client that sends programs and receives the texts of these programs.
struct Cell {
    bench: Bench,
    primary: Conn,
}

impl Cell {
    fn new() -> Self {
        Self::with(ideal(10, 12))
    }

    fn with(options: Options) -> Self {
        let mut bench = Bench::new(options);
        let primary = bench.connect(Port::Primary);
        bench.run(20);
        bench.told(primary);
        Self { bench, primary }
    }

    /// Sends a program of these statements, and runs until the cycle in which it begins.
    fn play(&mut self, statements: &str) {
        let primary = self.primary;
        self.bench.send(primary, &format!("def main():\n{statements}\nend\n"));
        let text = statements.to_owned();
        for _ in 0..50 {
            if self.bench.controller.program().0 {
                return;
            }
            self.bench.next_cycle();
        }
        let said = self.bench.told(primary);
        panic!("it never began: {said:?}\n{text}");
    }

    /// Takes the texts of programs since the last call.
    fn said(&mut self) -> Vec<String> {
        self.bench.told(self.primary)
    }

    /// Takes the ROS outputs (`RosOutput`) of programs since the last call, such as opened publishers.
    fn outputs(&mut self) -> Vec<RosOutput> {
        std::iter::from_fn(|| self.bench.controller.poll_ros()).collect()
    }

    fn runs(&self) -> bool {
        self.bench.controller.program().0
    }

    /// Opens a subscriber by these statements, which assign it to `s`, and lets them continue. Returns its endpoint.
    fn listening(&mut self, opening: &str, then: &str) -> End {
        self.play(&format!(" {opening}\n{then}"));
        let first = self.outputs().into_iter().next();
        let Some(RosOutput::Listens { end, .. }) = first else { panic!("{first:?}, {:?}", self.said()) };
        end
    }

    /// Returns the error with which a program of these statements ends.
    fn error(&mut self, statements: &str) -> String {
        let primary = self.primary;
        self.bench.send(primary, &format!("def main():\n{statements}\nend\n"));
        self.bench.run(200);
        assert!(!self.runs(), "it runs on: {statements}");
        let said = self.said();
        let [error] = &said[..] else { panic!("{statements}: {said:?}") };
        error.clone()
    }
}

fn flag(data: bool) -> Vec<u8> {
    encode(&Flag { data })
}

fn topic(end: u32, topic: &str, message: &'static str, reliable: bool, depth: u16) -> RosOutput {
    let qos = Qos { reliable, latched: false, depth };
    RosOutput::Publishes { end: End(end), topic: topic.into(), message, qos }
}

#[test]
fn a_publisher_is_seen_with_its_bytes_and_each_operation_takes_a_cycle() {
    let mut cell = Cell::new();
    cell.play(
        " p = ros_publisher_factory(\"/cell/ready\", \"std_msgs/msg/Bool\")\n p.write(struct(data=True))\n \
         p.publish(struct(data=False))\n p.close()\n textmsg(\"done\")",
    );
    assert_eq!(cell.outputs(), [topic(0, "/cell/ready", "std_msgs/msg/Bool", true, 1)]);
    for expected in [
        RosOutput::Message { end: End(0), bytes: vec![0, 1, 0, 0, 1] },
        RosOutput::Message { end: End(0), bytes: vec![0, 1, 0, 0, 0] },
        RosOutput::Closed { end: End(0) },
    ] {
        assert!(cell.runs());
        cell.bench.next_cycle();
        assert_eq!(cell.outputs(), [expected]);
    }
    assert_eq!(cell.said(), Vec::<String>::new(), "closing takes a cycle, too");
    cell.bench.next_cycle();
    cell.bench.next_cycle();
    assert_eq!((cell.said(), cell.runs()), (vec!["done".to_owned()], false));
    assert_eq!(cell.outputs(), []);
}

#[test]
fn an_operation_takes_as_many_cycles_as_the_option_says() {
    let mut cell = Cell::with(Options { ros: RosOptions { cycles: 5, ..RosOptions::default() }, ..ideal(10, 12) });
    cell.play(" p = ros_publisher_factory(\"/a\", \"std_msgs/Bool\")\n p.write(struct(data=True))");
    assert_eq!(cell.outputs().len(), 1);
    cell.bench.cycles(4);
    assert_eq!(cell.outputs(), []);
    cell.bench.cycles(1);
    assert_eq!(cell.outputs(), [RosOutput::Message { end: End(0), bytes: flag(true) }]);
}

#[test]
fn a_read_waits_until_a_message_comes_and_takes_the_newest_once() {
    let mut cell = Cell::new();
    let end = cell.listening(
        "s = ros_subscriber_factory(\"/n\", \"std_msgs/msg/Int32\")",
        " textmsg(s.read().data)\n m = s.read()\n textmsg(m)",
    );
    cell.bench.run(5_000);
    assert!(cell.runs() && cell.said().is_empty());
    assert!(cell.bench.controller.ros_message(end, &encode(&Int32 { data: 1 })));
    assert!(cell.bench.controller.ros_message(end, &encode(&Int32 { data: 2 })));
    cell.bench.run(1_000);
    assert_eq!(cell.said(), ["2"], "a queue of one keeps the newest, and nothing is read twice");
    assert!(cell.bench.controller.ros_message(end, &encode(&Int32 { data: 3 })));
    cell.bench.run(10);
    assert_eq!((cell.said(), cell.runs()), (vec!["{data: 3}".to_owned()], false));
    assert!(!cell.bench.controller.ros_message(end, &encode(&Int32 { data: 4 })), "the program is over");
}

#[test]
fn a_wait_ends_by_a_message_or_by_its_time() {
    let mut cell = Cell::new();
    let end = cell.listening(
        "s = ros_subscriber_factory(topic=\"/n\", msg_type=\"std_msgs/msg/String\")",
        " textmsg(s.wait(0.5))\n textmsg(s.wait(0.5))\n textmsg(s.wait(0))\n textmsg(s.read().data)\n textmsg(s.wait(0))",
    );
    cell.bench.run(490);
    assert_eq!(cell.said(), Vec::<String>::new());
    cell.bench.run(20);
    assert_eq!(cell.said(), ["False"]);
    cell.bench.run(100);
    assert!(cell.bench.controller.ros_message(end, &encode(&Text { data: "hello".into() })));
    cell.bench.run(20);
    assert_eq!(cell.said(), ["True", "True", "hello", "False"], "a wait leaves the message to be read");
}

#[test]
fn history_is_kept_as_deep_as_it_is_asked_for_and_read_from_its_oldest() {
    let mut cell = Cell::new();
    let end = cell.listening(
        "s = ros_subscriber_factory(\"/n\", \"std_msgs/Int32\", history=\"keep_last\", depth=4, reliability=\"reliable\")",
        " textmsg(s.read_history(3))\n sleep(0.1)\n h = s.read_history(3)\n textmsg(h)\n textmsg(h[0].data + h[2].data)\n \
          textmsg(s.read_history(3))\n sleep(0.1)\n textmsg(s.read_history(9))",
    );
    cell.bench.run(20);
    assert_eq!(cell.said(), ["[]"]);
    for data in 1..=100 {
        assert!(cell.bench.controller.ros_message(end, &encode(&Int32 { data })));
    }
    cell.bench.run(100);
    assert_eq!(cell.said(), ["[{data: 98}, {data: 99}, {data: 100}]", "198", "[]"]);
    for data in 1..=100 {
        assert!(cell.bench.controller.ros_message(end, &encode(&Int32 { data })));
    }
    cell.bench.run(200);
    assert_eq!(cell.said(), ["[{data: 97}, {data: 98}, {data: 99}, {data: 100}]"]);
}

#[test]
fn messages_have_members_within_members() {
    let mut cell = Cell::new();
    let end = cell.listening(
        "s = ros_subscriber_factory(\"joint_states\", \"sensor_msgs/msg/JointState\")",
        " j = s.read()\n textmsg(j.header.frame_id, j.position[1] + j.velocity[0])\n textmsg(size(j.name))\n l = [j, [j]]",
    );
    let state = JointState {
        position: vec![1.0, 2.5],
        velocity: vec![0.5],
        name: vec!["a".into(); 2],
        ..JointState::default()
    };
    assert!(cell.bench.controller.ros_message(end, &encode(&state)));
    cell.bench.run(20);
    assert_eq!((cell.said(), cell.runs()), (vec!["3".to_owned(), "2".to_owned()], false));
}

#[test]
fn a_number_of_64_bits_is_its_lower_32() {
    let mut cell = Cell::new();
    let end = cell.listening(
        "s = ros_subscriber_factory(\"/n\", \"std_msgs/msg/Int64\", history=\"keep_all\")",
        " sleep(0.01)\n textmsg(s.read_history(9))\n p = ros_publisher_factory(\"/m\", \"std_msgs/msg/Int64\")\n \
         p.write(struct(data=floor(-2.0)))",
    );
    for data in [i64::from(i32::MAX) + 1, (1 << 40) + 5, -1] {
        assert!(cell.bench.controller.ros_message(end, &encode(&Int64 { data })));
    }
    cell.bench.run(100);
    assert_eq!(cell.said(), ["[{data: -2147483648}, {data: 5}, {data: -1}]"]);
    let sent = cell.outputs().into_iter().find(|output| matches!(output, RosOutput::Message { .. }));
    assert_eq!(sent, Some(RosOutput::Message { end: End(1), bytes: encode(&Int64 { data: -2 }) }));
}

#[test]
fn a_call_returns_the_answer_with_its_number() {
    let mut cell = Cell::new();
    cell.play(
        " c = ros_service_client_factory(\"/gripper/open\", \"std_srvs/srv/Trigger\")\n a = c.call(struct())\n \
         textmsg(a.success, a.message)\n b = c.call(struct())\n textmsg(b)",
    );
    let asks = RosOutput::Asks { end: End(0), service: "/gripper/open".into(), kind: "std_srvs/srv/Trigger" };
    assert_eq!(cell.outputs(), [asks]);
    cell.bench.run(2_000);
    let request = |number| RosOutput::Request { end: End(0), number, bytes: vec![0, 1, 0, 0, 0] };
    assert_eq!((cell.outputs(), cell.said(), cell.runs()), (vec![request(0)], vec![], true));
    let answer = |success, text: &str| encode(&TriggerResponse { success, message: text.into() });
    let controller = &mut cell.bench.controller;
    assert!(!controller.ros_answer(End(0), 1, &answer(false, "of nobody's request")));
    assert!(!controller.ros_answer(End(0), 0, &[0, 1, 0, 0]), "no answer of this type");
    assert!(controller.ros_answer(End(0), 0, &answer(true, "open")));
    assert!(!controller.ros_answer(End(0), 0, &answer(false, "twice")));
    cell.bench.run(10);
    assert_eq!((cell.outputs(), cell.said()), (vec![request(1)], vec!["Trueopen".to_owned()]));
    assert!(cell.bench.controller.ros_answer(End(0), 1, &answer(false, "stuck")));
    cell.bench.run(10);
    assert_eq!((cell.said(), cell.runs()), (vec!["{success: False, message: stuck}".to_owned()], false));
}

#[test]
fn a_call_without_an_answer_waits_or_gives_up_as_the_option_says() {
    let calls = " c = ros_service_client_factory(\"/on\", \"std_srvs/srv/SetBool\")\n c.call(struct(data=True))";
    let mut cell = Cell::new();
    cell.play(calls);
    cell.bench.run(60_000);
    assert!(cell.runs(), "for ever");
    let ros = RosOptions { call_timeout: Some(Duration::from_secs(2)), ..RosOptions::default() };
    let mut cell = Cell::with(Options { ros, ..ideal(10, 12) });
    cell.play(calls);
    cell.bench.run(1_980);
    assert!(cell.runs());
    cell.bench.run(40);
    assert_eq!((cell.said(), cell.runs()), (vec!["call: /on has not answered within 2 s".to_owned()], false));
}

/// Checks a program with a publisher and three subscribers: it receives its own messages only where the type is equal
/// and the quality of service fits.
#[test]
fn a_program_hears_its_own_topics_where_type_and_quality_of_service_fit() {
    let mut cell = Cell::new();
    cell.play(
        " parts = ros_publisher_factory(\"/cell/parts\", \"std_msgs/msg/Int32\")\n \
         s = ros_subscriber_factory(\"/cell/parts\", \"std_msgs/msg/Int32\", history=\"keep_last\", depth=5)\n \
         other = ros_subscriber_factory(\"/cell/parts\", \"std_msgs/msg/Int64\")\n \
         strict = ros_subscriber_factory(\"/cell/parts\", \"std_msgs/msg/Int32\", durability=\"transient_local\")\n \
         i = 0\n while i < 7:\n  parts.write(struct(data=i))\n  i = i + 1\n end\n \
         textmsg(s.read_history())\n parts.write(struct(data=36))\n textmsg(s.read().data)\n \
         textmsg(other.wait(0.1))\n textmsg(strict.wait(0.1))\n parts.close()\n s.close()",
    );
    cell.bench.run(1_000);
    let kept = "[{data: 2}, {data: 3}, {data: 4}, {data: 5}, {data: 6}]";
    assert_eq!((cell.said(), cell.runs()), ([kept, "36", "False", "False"].map(String::from).to_vec(), false));
    let sent = cell.outputs().into_iter().filter(|output| matches!(output, RosOutput::Message { .. })).count();
    assert_eq!(sent, 1, "others are sent the newest: a publisher keeps one here, and nobody took them");
}

#[test]
fn a_late_subscriber_gets_what_the_program_has_latched() {
    let mut cell = Cell::new();
    cell.play(
        " p = ros_publisher_factory(\"/cell/state\", \"std_msgs/msg/String\", durability=\"transient_local\")\n \
         p.write(struct(data=\"old\"))\n p.write(struct(data=\"ready\"))\n \
         late = ros_subscriber_factory(\"/cell/state\", \"std_msgs/msg/String\", durability=\"transient_local\")\n \
         textmsg(late.read().data)\n plain = ros_subscriber_factory(\"/cell/state\", \"std_msgs/msg/String\")\n \
         textmsg(plain.wait(0.1))\n p.write(struct(data=\"done\"))\n textmsg(plain.read().data, late.read().data)",
    );
    cell.bench.run(1_000);
    assert_eq!((cell.said(), cell.runs()), (["ready", "False", "donedone"].map(String::from).to_vec(), false));
}

#[test]
fn a_service_is_waited_for_and_called_with_a_time_out_of_its_own() {
    let mut cell = Cell::new();
    cell.play(
        " c = ros_service_client_factory(\"/cell/reset\", \"std_srvs/srv/Empty\")\n textmsg(c.wait_for_service(0.5))\n \
         textmsg(c.wait_for_service())\n answer = c.call(struct(), 1.0)\n textmsg(answer)\n c.call(struct(), timeout=2)",
    );
    let asks = RosOutput::Asks { end: End(0), service: "/cell/reset".into(), kind: "std_srvs/srv/Empty" };
    assert_eq!(cell.outputs(), [asks]);
    cell.bench.run(490);
    assert_eq!(cell.said(), Vec::<String>::new());
    cell.bench.run(3_000);
    assert_eq!((cell.said(), cell.runs()), (vec!["False".to_owned()], true), "it waits on, and asks nobody");
    assert_eq!(cell.outputs(), []);
    cell.bench.controller.ros_served(End(0), true);
    cell.bench.run(20);
    let request = |number| RosOutput::Request { end: End(0), number, bytes: vec![0, 1, 0, 0, 0] };
    assert_eq!((cell.said(), cell.outputs()), (vec!["True".to_owned()], vec![request(0)]));
    assert!(cell.bench.controller.ros_answer(End(0), 0, &[0, 1, 0, 0, 0]));
    cell.bench.run(1_990);
    assert_eq!((cell.said(), cell.runs()), (vec!["{}".to_owned()], true), "an empty struct");
    cell.bench.run(40);
    assert_eq!((cell.said(), cell.runs()), (vec!["call: /cell/reset has not answered within 2 s".to_owned()], false));
}

#[test]
fn any_value_is_a_text_by_a_function_and_by_a_method() {
    let mut cell = Cell::new();
    cell.play(
        " mode = ros_publisher_factory(\"/mode\", \"urinterfaces/msg/RobotMode\")\n \
         s = ros_subscriber_factory(\"/mode\", \"urinterfaces/msg/RobotMode\")\n \
         stamp = struct(sec=1, nanosec=2)\n \
         mode.write(struct(header=struct(stamp=stamp, frame_id=\"b\"), data=7))\n m = s.read()\n \
         textmsg(to_string(m.data))\n textmsg(m.to_string())\n textmsg(str_len(to_string([1, 2])))",
    );
    cell.bench.run(200);
    let whole = "{header: {stamp: {sec: 1, nanosec: 2}, frame_id: b}, data: 7}";
    assert_eq!((cell.said(), cell.runs()), (["7", whole, "6"].map(String::from).to_vec(), false));
    // Older software has neither function.
    let mut bench = Bench::new(ideal(10, 6));
    let primary = bench.connect(Port::Primary);
    bench.run(20);
    bench.told(primary);
    bench.send(primary, "def main():\n textmsg(to_string(1))\nend\n");
    bench.run(200);
    assert!(bench.told(primary).iter().any(|said| said.contains("to_string")));
}

#[test]
fn what_is_closed_is_of_no_use_any_more() {
    let mut cell = Cell::new();
    let publisher = " p = ros_publisher_factory(\"/a\", \"std_msgs/Bool\")\n p.close()\n";
    let subscriber = " s = ros_subscriber_factory(\"/a\", \"std_msgs/Bool\")\n s.close()\n";
    for (statements, error) in [
        (format!("{publisher} p.write(struct(data=True))"), "write: it is closed"),
        (format!("{publisher} p.close()"), "close: it is closed"),
        (format!("{subscriber} s.read()"), "read: it is closed"),
        (format!("{subscriber} s.wait(1)"), "wait: it is closed"),
        (format!("{subscriber} s.read_history(1)"), "read_history: it is closed"),
        // By another thread, while it waits.
        (
            " s = ros_subscriber_factory(\"/a\", \"std_msgs/Bool\")\n thread t():\n  sleep(0.05)\n  s.close()\n end\n \
             run t()\n s.read()"
                .to_owned(),
            "read: it is closed",
        ),
    ] {
        assert_eq!(cell.error(&statements), error, "{statements}");
    }
    // Endpoints that a program leaves open are closed with it, and the next program cannot use them.
    cell.play(" global p = ros_publisher_factory(\"/a\", \"std_msgs/Bool\")");
    let Some(RosOutput::Publishes { end, .. }) = cell.outputs().pop() else { panic!("nothing was opened") };
    cell.bench.run(20);
    assert_eq!(cell.outputs(), [RosOutput::Closed { end }]);
}

#[test]
fn what_does_not_fit_ends_the_program_with_what_and_why() {
    let mut cell = Cell::new();
    let p = " p = ros_publisher_factory(\"/a\", \"std_msgs/Bool\")\n";
    for (statements, error) in [
        (
            " ros_publisher_factory(\"/a\", \"std_msgs/msg/Banana\")".to_owned(),
            "ros_publisher_factory: type 'std_msgs/msg/Banana' is not known here, but std_msgs/msg/Bool, ",
        ),
        (
            " ros_service_client_factory(\"/a\", \"std_msgs/msg/Bool\")".to_owned(),
            "ros_service_client_factory: type 'std_msgs/msg/Bool' is not known here, but those of std_srvs, urinterfaces",
        ),
        (
            " ros_subscriber_factory(\"/a b\", \"std_msgs/Bool\")".to_owned(),
            "ros_subscriber_factory: name: expected a name such as /cell/ready: letters, digits and '_', no digit first, \
             found /a b",
        ),
        (
            " ros_subscriber_factory(\"/a\", \"std_msgs/Bool\", depth=0)".to_owned(),
            "ros_subscriber_factory: depth: expected 1 to 1000, found 0",
        ),
        (
            " ros_subscriber_factory(\"/a\", \"std_msgs/Bool\", reliability=\"maybe\")".to_owned(),
            "ros_subscriber_factory: reliability: expected one of default, reliable, best_effort, found maybe",
        ),
        (format!("{p} p.write(True)"), "write: std_msgs/msg/Bool: expected struct(data=…), found Bool"),
        (
            format!("{p} p.write(struct(data=1))"),
            "write: std_msgs/msg/Bool: data: invalid type: integer `1`, expected a boolean",
        ),
        (format!("{p} p.read()"), "read: a publisher has write, publish and close"),
        (format!("{p} q = 1\n q.write(p)"), "write: Int has no methods"),
        (
            " while True:\n  ros_publisher_factory(\"/a\", \"std_msgs/Bool\")\n end".to_owned(),
            "ros_publisher_factory: 64 publishers, subscribers and clients are open",
        ),
    ] {
        let found = cell.error(&statements);
        assert!(found.starts_with(error) && (error.ends_with(' ') || found == error), "{statements}: {found}");
    }
}

/// Runs the example in `port-linux/docs/ros2.md`.
#[test]
fn the_program_of_the_page_runs() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../port-linux/docs/ros2.md");
    let page = std::fs::read_to_string(page).expect("it is part of the repository");
    let begin = page.find("def cell():").expect("an example");
    let program = page[begin..].split("```").next().expect("some text");
    let mut cell = Cell::new();
    let primary = cell.primary;
    cell.bench.send(primary, program);
    cell.bench.run(100);
    let outputs = cell.outputs();
    assert_eq!(outputs.last(), Some(&RosOutput::Message { end: End(0), bytes: flag(true) }), "{outputs:?}");
    assert_eq!(outputs.len(), 4, "{outputs:?}");
    let count = |cell: &mut Cell, data| {
        assert!(cell.bench.controller.ros_message(End(1), &encode(&Int64 { data })), "{data}");
        cell.bench.run(10);
    };
    count(&mut cell, 7);
    assert_eq!(cell.said(), ["parts: 7", "the last: []"]);
    count(&mut cell, 8);
    cell.bench.controller.ros_served(End(2), true);
    cell.bench.run(10);
    let bytes = encode(&TriggerResponse { success: true, message: "open".into() });
    assert!(cell.bench.controller.ros_answer(End(2), 0, &bytes));
    cell.bench.run(20);
    assert_eq!((cell.said(), cell.runs()), (vec!["{success: True, message: open}".to_owned()], false));
}

#[test]
fn two_threads_speak_side_by_side() {
    let mut cell = Cell::new();
    cell.play(
        " s = ros_subscriber_factory(\"/in\", \"std_msgs/msg/Int32\")\n p = ros_publisher_factory(\"/out\", \"std_msgs/msg/Int32\")\n \
         thread listens():\n  while True:\n   set_standard_digital_out(0, s.read().data == 7)\n  end\n end\n run listens()\n \
         n = 0\n while True:\n  n = n + 1\n  p.write(struct(data=n))\n end",
    );
    cell.bench.run(4);
    let outputs = cell.outputs();
    let Some(RosOutput::Listens { end, .. }) = outputs.first().cloned() else { panic!("{outputs:?}") };
    cell.bench.run(200);
    let sent = cell.outputs();
    assert_eq!(
        sent,
        [RosOutput::Message { end: End(1), bytes: encode(&Int32 { data: 100 + 1 }) }],
        "the newest of one a cycle"
    );
    assert_eq!(cell.bench.controller.io().digital_out, 0);
    assert!(cell.bench.controller.ros_message(end, &encode(&Int32 { data: 7 })));
    cell.bench.run(20);
    assert_eq!(cell.bench.controller.io().digital_out, 1);
    assert!(cell.bench.controller.ros_message(end, &encode(&Int32 { data: 8 })));
    cell.bench.run(20);
    assert_eq!((cell.bench.controller.io().digital_out, cell.runs()), (0, true));
}

#[test]
fn other_software_does_not_know_the_factories() {
    for (major, minor) in [(3, 15), (5, 25), (10, 6)] {
        let mut cell = Cell::with(ideal(major, minor));
        for name in ["ros_publisher_factory", "ros_subscriber_factory", "ros_service_client_factory"] {
            let error = cell.error(&format!(" p = {name}(\"/a\", \"std_msgs/Bool\")"));
            assert_eq!(error, format!("compile_error_name_not_found:{name}:"), "{major}.{minor}");
        }
    }
    let mut cell = Cell::with(ideal(10, 7));
    cell.play(" p = ros_publisher_factory(\"/a\", \"std_msgs/Bool\")");
    assert_eq!(cell.outputs().len(), 1);
    // One control cycle is not enough for a secondary program.
    let primary = cell.primary;
    cell.bench.send(primary, "sec beside():\n ros_publisher_factory(\"/b\", \"std_msgs/Bool\")\nend\n");
    cell.bench.run(20);
    let said = cell.said();
    assert!(said.iter().any(|text| text.contains("too much behind")), "{said:?}");
}
