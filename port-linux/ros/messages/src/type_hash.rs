//! The hashes of message types, by which releases from Iron on distinguish layouts
//! (`core/docs/protocol/ros2-surface.md` 6.1).

/// The known hashes of message types, by type name, for comparison with the hashes that other programs announce. They
/// are the same in Jazzy and Lyrical.
const HASHES: &[(&str, &str)] = &[
    ("std_msgs/msg/Bool", "RIHS01_feb91e995ff9ebd09c0cb3d2aed18b11077585839fb5db80193b62d74528f6c9"),
    ("std_msgs/msg/Float64", "RIHS01_705ba9c3d1a09df43737eb67095534de36fd426c0587779bda2bc51fe790182a"),
    ("std_msgs/msg/Float64MultiArray", "RIHS01_1025ddc6b9552d191f89ef1a8d2f60f3d373e28b283d8891ddcc974e8c55397f"),
    ("std_msgs/msg/String", "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"),
    ("sensor_msgs/msg/JointState", "RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e"),
    ("sensor_msgs/msg/Temperature", "RIHS01_72514a14126ab9f8a9abec974c78e5610a367b59db5da355ff1fb982d5bad4b8"),
    ("sensor_msgs/msg/TimeReference", "RIHS01_dd66e84cf40bbb5d5a40472e6ecf2675a031334d4c426abdb2ad41801a8efc99"),
    ("geometry_msgs/msg/PoseStamped", "RIHS01_10f3786d7d40fd2b54367835614bff85d4ad3b5dab62bf8bca0cc232d73b4cd8"),
    ("geometry_msgs/msg/WrenchStamped", "RIHS01_8dc3deaf06b2ab281f9f9a742a8961c328ca7cec16e3fd6586d3a5c83fa78f77"),
    ("geometry_msgs/msg/AccelStamped", "RIHS01_ef1df9eabae0a708cc049a061ebcddc4e2a5f745730100ba680e086a9698b165"),
    ("geometry_msgs/msg/InertiaStamped", "RIHS01_766be45976252babf7f9d8ac4ae7c912a7ceccf71035622529f27518b695aa09"),
    ("tf2_msgs/msg/TFMessage", "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087"),
    ("trajectory_msgs/msg/JointTrajectory", "RIHS01_179b33eba59d676f6d967ac71fe35e7ca2f64b2f3928f4a018cec115e213796e"),
    (
        "control_msgs/msg/JointTrajectoryControllerState",
        "RIHS01_51d8dd89cc624cbe9daaeeb4d80d6de9b86168ffdc3be41fefc0953e3c26e480",
    ),
    ("ur_msgs/msg/IOStates", "RIHS01_7a62606d52c4b2aaa3fd3c5bc565cfda9c6fe8c2d69bbc7e3eadccde4cfc2a32"),
    ("ur_msgs/msg/ToolDataMsg", "RIHS01_b9fab3f6257c542e53779892ad0e511248ea491ac6327e8a7f0a67cad02090c4"),
    ("ur_dashboard_msgs/msg/RobotMode", "RIHS01_ba3c379b3c995f660b38d03a195dc23ed7571a1bc06ceed2cec38c75ae9bd634"),
    ("ur_dashboard_msgs/msg/SafetyMode", "RIHS01_9eb2716e6905f06e4eb60af26712660486e909026aa89c553dd633f1fb22f592"),
    ("urinterfaces/msg/ActiveTCP", "RIHS01_c86618fae533bf17e8a64a8fca78933837a1e4defcf60de3ddeb92a443c767df"),
    ("urinterfaces/msg/Analog", "RIHS01_3d7ed5300fefcf9a508fc490fa154dd55eaab7326ee5368d5570ee63cb8fd7d5"),
    ("urinterfaces/msg/AnalogIO", "RIHS01_1550453df5b8b29e7f23a57775c516a5bcdf0168355e3b2bd831f042d39dda8b"),
    (
        "urinterfaces/msg/AnalogIOStateStamped",
        "RIHS01_ce355ea22d22d00c082e92bbe161d1990403307f5fcef50bcba2d342bad9dc02",
    ),
    ("urinterfaces/msg/AnalogStamped", "RIHS01_a89b76ba238cf90eca3df83eb169aec5c9942d2d094ca878fcc09f8475f5bcaa"),
    ("urinterfaces/msg/BoolStamped", "RIHS01_4026f1c1399225d72c41cb1dcb5fa9931d936df992f22e68a5bc930415eda7c2"),
    ("urinterfaces/msg/ControlCycle", "RIHS01_780b31695dd2117893b42531d4929167d4236c233692a803e9960d494b60ad2a"),
    ("urinterfaces/msg/Current", "RIHS01_dd288cbe025838c1c09714069cbf06e54ca58bf9dcfd69cd9829820d011844b7"),
    ("urinterfaces/msg/Digital", "RIHS01_f0f5fd15376e7b94c98e7ae32c37c5ec7d33bbd56bd81636cf17e147a9fe366e"),
    ("urinterfaces/msg/DigitalIO", "RIHS01_c63b8a4e9bd3435b7c0c3d3e63b31cf2a77d550a3384e44c190d855476a57c4d"),
    (
        "urinterfaces/msg/DigitalIOStateStamped",
        "RIHS01_2080c5720aa9a6c3a38431fc66393b0f478dd1bbce27a0f1ffe3aa7ad299dc45",
    ),
    ("urinterfaces/msg/DigitalStamped", "RIHS01_3930ed823a1fbf7d63ffd97c3cdcf4f94aed47245bae59afbfe8b08a09f9cfc7"),
    (
        "urinterfaces/msg/DoubleMultiArrayStamped",
        "RIHS01_a650c652a9e9d6c359dd030712b1311b62b42c958c56ce18412d6cca96ac077f",
    ),
    ("urinterfaces/msg/Float32Stamped", "RIHS01_7e4ff4c76d43ad9bf7ce892443365efd5567c62842e640c98e5092bdd77077e8"),
    ("urinterfaces/msg/Float64Stamped", "RIHS01_655105415adeb76f97156e3e708a306773ac1745759f4a052ab374890206217f"),
    ("urinterfaces/msg/JointMode", "RIHS01_6a5bf140515af2137391e5c0e1615d5cb963fd27bfa4463bc203a3635c9cbc12"),
    ("urinterfaces/msg/JointTemperature", "RIHS01_334a172d75b3f4233709c75d928c2a4a2982e96186e91d33e67baa8827c94ea6"),
    ("urinterfaces/msg/JointVoltage", "RIHS01_ad7540c9e54776c41f2e629d5cc21af4895e00b7145a7032d7ae561b236fb8c5"),
    ("urinterfaces/msg/JsonStringType", "RIHS01_60c3f217cb989fbb9dfef1111147f0285a9aa1b4494eab12f8b63f8bf90c7c06"),
    ("urinterfaces/msg/RobotMode", "RIHS01_3b06c86c8d0baf3c415a80b3466a50996217e5f5f68304403f7175fcc193eb28"),
    ("urinterfaces/msg/RuntimeState", "RIHS01_c454d06686e9cdb06e1492cdc3c7f125335949b0f698fa13c3ac820574e4bbca"),
    ("urinterfaces/msg/SafetyStatus", "RIHS01_fb21ef3660a4cebd9ecd08d1cf8b96a2dea15f5b22d83d36202c2d73e11229c9"),
    (
        "urinterfaces/msg/SharedVariablesEditResponse",
        "RIHS01_ce181c298ecd784428f0707bf8028885daf79530c3a79f820adc46fa876ad125",
    ),
    ("urinterfaces/msg/SpeedSliderFraction", "RIHS01_f88367690655705ff81c9721ca6450c4cad4688b3ae5b7f0e05487d255da1d47"),
    ("urinterfaces/msg/TCPState", "RIHS01_8bdebbdd4f48c9d2c77ca9c93fe33bafc64eebfdafadbe02935929bc3609314a"),
    ("urinterfaces/msg/ToolOutputMode", "RIHS01_568cafebb64cba2b3ea862291c5c09eb964f431712d9a86aa85c31d06e13a951"),
    ("urinterfaces/msg/VariableUpdate", "RIHS01_16172ebe5d0cc54a43a3a24afc1468dc66568c49c3488c0f7c13da86c70b266d"),
    (
        "urinterfaces/msg/VoltageCurrentStamped",
        "RIHS01_2c684c3cc312e4a6801866d62f8ddb3861846badfda2db0a52d4130bef7633f9",
    ),
    ("urinterfaces/msg/WorldModelNames", "RIHS01_e8f9828aa1250f338cc70a179d36114bf49a490d82f96fabf3595d402e8d9341"),
];

/// Returns the hash of a type given by its name on DDS; `None` if this crate has none for it.
#[must_use]
pub fn of(dds: &str) -> Option<&'static str> {
    HASHES.iter().find(|(name, _)| crate::dds_type(name) == dds).map(|(_, hash)| *hash)
}

/// Extracts the type hash `RIHS01_…` from an endpoint's user data, `typehash=RIHS01_…;`. Returns `None` if there is
/// no valid hash.
#[must_use]
pub fn said(user_data: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(user_data).ok()?;
    let hash = text.split(';').find_map(|part| part.trim().strip_prefix("typehash="))?;
    let digits = hash.strip_prefix("RIHS01_")?;
    let is_hash = digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hash.then(|| hash.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_where_it_is_one() {
        let known = of("std_msgs::msg::dds_::Bool_").expect("listed");
        assert_eq!(said(format!("typehash={known};").as_bytes()).as_deref(), Some(known));
        assert_eq!(said(format!("clientid=1;typehash={known};").as_bytes()).as_deref(), Some(known));
        for none in [b"".as_slice(), b"typehash=;", b"typehash=RIHS01_00;", b"typehash=RIHS02_", &[0xff, 0xfe]] {
            assert_eq!(said(none), None, "{none:?}");
        }
        assert_eq!(of("std_msgs::msg::dds_::Nothing_"), None);
    }
}
