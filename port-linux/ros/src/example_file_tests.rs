//! Tests of the files for MoveIt and ros2_control that `outrigger example` prints. Independent parsers read them, and
//! every name in them must be one that the node has.

use std::path::PathBuf;

use outrigger_require::workspace;
use outrigger_ros2_messages::endpoint::Names;
use roxmltree::{Document, Node};
use yaml_rust2::{Yaml, YamlLoader};

use crate::arm::{Arm, UR_JOINTS};
use crate::driver;
use crate::joint_commands::JOINT_COMMANDS;
use crate::trajectory_goals::ACTIONS;

/// The namespace of the node that ros2_control uses as its hardware.
const NAMESPACE: &str = "/hardware";

fn path(name: &str) -> PathBuf {
    workspace().join("port-linux/cli/examples/ros2").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(path(name)).expect("an example")
}

fn yaml(name: &str) -> Yaml {
    let mut all = YamlLoader::load_from_str(&text(name)).expect("YAML");
    assert_eq!(all.len(), 1, "{name}");
    all.remove(0)
}

fn texts(of: &Yaml) -> Vec<&str> {
    of.as_vec().expect("a list").iter().map(|item| item.as_str().expect("a text")).collect()
}

fn named<'d>(document: &'d Document<'_>, tag: &str) -> Vec<Node<'d, 'd>> {
    document.descendants().filter(|node| node.has_tag_name(tag)).collect()
}

#[test]
fn moveit_sends_its_goals_to_an_action_of_the_node_with_the_joints_of_the_arm() {
    let all = yaml("moveit_controllers.yaml");
    let manager = &all["moveit_simple_controller_manager"];
    let names = texts(&manager["controller_names"]);
    assert_eq!(names, ["joint_trajectory_controller"]);
    for name in names {
        let controller = &manager[name];
        let action = format!("{name}/{}", controller["action_ns"].as_str().expect("a text"));
        let known = ACTIONS.iter().find(|known| known.task.name == action).unwrap_or_else(|| panic!("no {action}"));
        let of = controller["type"].as_str().expect("a text");
        assert_eq!(known.task.action, format!("control_msgs/action/{of}"));
        assert_eq!(texts(&controller["joints"]), UR_JOINTS);
    }
    assert_eq!(all["trajectory_execution"]["execution_duration_monitoring"].as_bool(), Some(false));
    assert!(
        text("moveit.launch.py").contains("\"moveit_controllers.yaml\"") && path("moveit_controllers.yaml").exists()
    );
}

#[test]
fn ros2_control_reads_and_commands_by_topics_of_the_node_what_its_controllers_claim() {
    let text_of = text("arm.urdf.xacro");
    let robot = Document::parse(&text_of).expect("XML");
    let parameter = |name: &str| {
        let of = named(&robot, "param").into_iter().find(|node| node.attribute("name") == Some(name));
        of.and_then(|node| node.text()).unwrap_or_else(|| panic!("no {name}")).to_owned()
    };
    let names = Names::new(NAMESPACE, "").expect("a namespace");
    let states = driver::TOPICS.iter().find(|topic| names.of(topic.name) == parameter("joint_states_topic"));
    assert_eq!(states.expect("a topic of the node").message, JOINT_COMMANDS.message);
    assert_eq!(parameter("joint_commands_topic"), names.of(JOINT_COMMANDS.name));
    // The component sends commands in every cycle, whatever the state.
    assert_eq!(parameter("trigger_joint_command_threshold"), "-1");
    let joints = named(&robot, "joint_by_topic");
    let joints: Vec<_> = joints.iter().filter_map(|node| node.attribute("name")).collect();
    assert_eq!(joints, UR_JOINTS);
    let interfaces = |tag: &str| {
        let all = named(&robot, tag).into_iter().filter_map(|node| node.attribute("name").map(str::to_owned));
        all.collect::<Vec<_>>()
    };

    let all = yaml("controllers.yaml");
    let controller = &all["joint_trajectory_controller"]["ros__parameters"];
    assert_eq!(texts(&controller["joints"]), UR_JOINTS);
    for (key, tag) in [("command_interfaces", "command_interface"), ("state_interfaces", "state_interface")] {
        let offered = interfaces(tag);
        let claimed = texts(&controller[key]);
        assert!(
            !claimed.is_empty() && claimed.iter().all(|one| offered.iter().any(|has| has == one)),
            "{key}: {claimed:?}"
        );
    }
    assert!(all["controller_manager"]["ros__parameters"]["update_rate"].as_i64().is_some_and(|rate| rate > 0));

    let text_of = text("control.launch.xml");
    let launch = Document::parse(&text_of).expect("XML");
    assert_eq!(launch.root_element().tag_name().name(), "launch");
    let spawner = named(&launch, "node").into_iter().find(|node| node.attribute("exec") == Some("spawner"));
    let arguments = spawner.and_then(|node| node.attribute("args")).expect("arguments");
    let spawned: Vec<_> = arguments.split_whitespace().take_while(|word| !word.starts_with("--")).collect();
    assert_eq!(spawned, ["joint_state_broadcaster", "joint_trajectory_controller"]);
    for name in spawned {
        assert!(all[name]["ros__parameters"]["type"].as_str().is_some(), "{name} has no type");
    }
    for file in text_of.split("$(dirname)/").skip(1).filter_map(|rest| rest.split(['"', ' ', '\'']).next()) {
        assert!(path(file).exists(), "{file}");
    }
}

#[test]
fn a_description_is_a_tree_of_links_for_a_parser_of_others() {
    for meshes in [false, true] {
        let text = crate::urdf::tests::of_an_e_series("left_", meshes);
        let robot = Document::parse(&text).expect("XML");
        let links: Vec<_> = named(&robot, "link").iter().filter_map(|link| link.attribute("name")).collect();
        let end = |joint: &Node<'_, '_>, tag: &str| {
            let of = joint.children().find(|node| node.has_tag_name(tag)).and_then(|node| node.attribute("link"));
            of.map(str::to_owned).expect("a link")
        };
        let joints = named(&robot, "joint");
        let mut children: Vec<_> = joints.iter().map(|joint| end(joint, "child")).collect();
        assert!(joints.iter().all(|joint| links.contains(&end(joint, "parent").as_str())));
        children.push("left_base_link".into());
        children.sort();
        let mut sorted = links.clone();
        sorted.sort_unstable();
        assert_eq!(children, sorted, "each link but the first is the child of one joint");
        let arm = Arm::new(&UR_JOINTS, &Names::new("", "left_").expect("a prefix"));
        assert!(arm.joints.iter().all(|name| joints.iter().any(|joint| joint.attribute("name") == Some(name))));
        let files: Vec<_> = named(&robot, "mesh").iter().filter_map(|mesh| mesh.attribute("filename")).collect();
        assert_eq!(files.len(), if meshes { 14 } else { 0 });
        assert!(files.iter().all(|file| file.starts_with("package://ur_description/meshes/ur5e/")), "{files:?}");
    }
}
