//! A simulated service on port 30004, which can deviate from what a client expects.

use std::collections::VecDeque;

use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::rtde::registry::{Direction, Variable};
use outrigger_wire::rtde::{ControllerVersion, DataType, NameList, Package, Protocol, Reply, Request, TypeList, Value};

/// The number that the simulated RTDE service assigns to a client's recipe of outputs.
pub const OUTPUTS: u8 = 7;

/// The simulated RTDE service with one connection.
#[derive(Clone, Debug)]
pub struct Service {
    software: SoftwareVersion,
    /// The highest version of RTDE that the service accepts.
    pub highest_protocol: u16,
    /// The names of the RTDE variables that the service does not have.
    pub missing: Vec<&'static str>,
    /// The names of the RTDE inputs that another client owns.
    pub in_use: Vec<&'static str>,
    /// The words that the service replies instead of the data types of some RTDE variables: pairs of variable name and
    /// word.
    pub words: Vec<(&'static str, &'static str)>,
    /// `true` to reply to every recipe of inputs with the number 0, which refuses the recipe.
    pub numbers_nothing: bool,
    /// The letters of the RTDE package types to which the service does not reply.
    pub silent_on: Vec<u8>,
    /// The requests received from clients, each with its letter and payload.
    pub asked: Vec<(u8, Vec<u8>)>,
    /// The bytes that were sent and not read by the client so far.
    pub out: VecDeque<u8>,
    received: Vec<u8>,
    protocol: Protocol,
    outputs: Vec<(String, DataType)>,
    inputs: u8,
    started: bool,
}

impl Service {
    /// Creates the RTDE service of a controller with this software, without a client.
    pub fn new(software: SoftwareVersion) -> Self {
        Self {
            software,
            highest_protocol: 2,
            missing: Vec::new(),
            in_use: Vec::new(),
            words: Vec::new(),
            numbers_nothing: false,
            silent_on: Vec::new(),
            asked: Vec::new(),
            out: VecDeque::new(),
            received: Vec::new(),
            protocol: Protocol::V1,
            outputs: Vec::new(),
            inputs: 0,
            started: false,
        }
    }

    /// Accepts a new client of the RTDE service and resets the state of the connection.
    pub fn open(&mut self) {
        self.out.clear();
        self.received.clear();
        self.protocol = Protocol::V1;
        self.outputs.clear();
        self.inputs = 0;
        self.started = false;
    }

    /// Receives bytes of a client and answers the complete requests among them.
    pub fn write(&mut self, bytes: &[u8]) {
        self.received.extend(bytes);
        while let Some(size) = self.received.first_chunk().map(|size| usize::from(u16::from_be_bytes(*size)))
            && self.received.len() >= size
        {
            let bytes: Vec<u8> = self.received.drain(..size).collect();
            let package = Package::new_checked(&bytes).expect("a whole package");
            let letter = package.package_type.letter();
            self.asked.push((letter, package.payload.to_vec()));
            if !self.silent_on.contains(&letter) {
                self.answer(&Request::parse(&package, self.protocol).expect("a request"));
            }
        }
    }

    fn answer(&mut self, request: &Request<'_>) {
        match request {
            Request::ProtocolVersion(version) => {
                let accepted = *version <= self.highest_protocol;
                self.send(&Reply::ProtocolVersion { accepted });
                if accepted {
                    self.protocol = if *version == 2 { Protocol::V2 } else { Protocol::V1 };
                }
            }
            Request::ControllerVersion => {
                let SoftwareVersion { major, minor, bugfix } = self.software;
                let version = ControllerVersion { major: major.into(), minor: minor.into(), bugfix, build: 0 };
                self.send(&Reply::ControllerVersion(version));
            }
            Request::SetupOutputs { names, .. } => {
                let words = self.words_for(*names, Direction::Output);
                let typed =
                    words.iter().filter_map(|(name, word)| Some((name.clone(), DataType::from_word(word.as_bytes())?)));
                let typed: Vec<_> = typed.collect();
                let whole = typed.len() == words.len();
                self.outputs = if whole { typed } else { Vec::new() };
                let recipe = (self.protocol == Protocol::V2).then_some(if whole { OUTPUTS } else { 0 });
                self.send(&Reply::Outputs { recipe, types: TypeList(joined(&words).as_bytes()) });
            }
            Request::SetupInputs { names } => {
                let words = self.words_for(*names, Direction::Input);
                let whole = words.iter().all(|(_, word)| word != "NOT_FOUND" && word != "IN_USE");
                let number = if whole && !self.numbers_nothing {
                    self.inputs += 1;
                    self.inputs
                } else {
                    0
                };
                self.send(&Reply::Inputs { recipe: number, types: TypeList(joined(&words).as_bytes()) });
            }
            Request::Start => {
                self.started = !self.outputs.is_empty();
                self.send(&Reply::Start { accepted: self.started });
            }
            Request::Pause => {
                self.started = false;
                self.send(&Reply::Pause { accepted: true });
            }
            Request::Text(_) | Request::Data { .. } | Request::Unknown { .. } => {}
        }
    }

    fn words_for(&self, names: NameList<'_>, direction: Direction) -> Vec<(String, String)> {
        let word = |name: &[u8]| {
            let name = String::from_utf8(name.to_vec()).expect("ASCII");
            let other = self.words.iter().find(|(of, _)| *of == name).map(|(_, word)| (*word).to_owned());
            let known = Variable::named(&name, direction).filter(|_| !self.missing.contains(&name.as_str()));
            let word = match known {
                None => "NOT_FOUND".to_owned(),
                Some(_) if self.in_use.contains(&name.as_str()) => "IN_USE".to_owned(),
                Some(known) => other.unwrap_or_else(|| known.data_type().word().to_owned()),
            };
            (name, word)
        };
        names.iter().map(word).collect()
    }

    /// Sends a data package with the outputs of the recipe, if the client has requested the start of the data.
    pub fn publish(&mut self, value: impl Fn(&str, DataType) -> Value) {
        if !self.started {
            return;
        }
        let mut values = Vec::new();
        for (name, data_type) in &self.outputs {
            let value = value(name, *data_type);
            assert_eq!(value.data_type(), *data_type, "{name}");
            append(value, &mut values);
        }
        let recipe = (self.protocol == Protocol::V2).then_some(OUTPUTS);
        self.send(&Reply::Data { recipe, values: &values });
    }

    /// Sends an RTDE reply to the client.
    pub fn send(&mut self, reply: &Reply<'_>) {
        let mut bytes = [0; 4096];
        let size = reply.emit(&mut bytes).expect("room");
        self.out.extend(&bytes[..size]);
    }
}

fn joined(words: &[(String, String)]) -> String {
    words.iter().map(|(_, word)| word.as_str()).collect::<Vec<_>>().join(",")
}

/// Returns the value 0 of this RTDE data type: `false`, or zero in every element.
pub fn zero(data_type: DataType) -> Value {
    match data_type {
        DataType::Bool => Value::Bool(false),
        DataType::Uint8 => Value::Uint8(0),
        DataType::Uint32 => Value::Uint32(0),
        DataType::Uint64 => Value::Uint64(0),
        DataType::Int32 => Value::Int32(0),
        DataType::Double => Value::Double(0.0),
        DataType::Vector3d => Value::Vector3d([0.0; 3]),
        DataType::Vector6d => Value::Vector6d([0.0; 6]),
        DataType::Vector6Int32 => Value::Vector6Int32([0; 6]),
        DataType::Vector6Uint32 => Value::Vector6Uint32([0; 6]),
    }
}

fn append(value: Value, to: &mut Vec<u8>) {
    match value {
        Value::Bool(on) => to.push(on.into()),
        Value::Uint8(value) => to.push(value),
        Value::Uint32(value) => to.extend(value.to_be_bytes()),
        Value::Uint64(value) => to.extend(value.to_be_bytes()),
        Value::Int32(value) => to.extend(value.to_be_bytes()),
        Value::Double(value) => to.extend(value.to_be_bytes()),
        Value::Vector3d(values) => to.extend(values.map(f64::to_be_bytes).as_flattened()),
        Value::Vector6d(values) => to.extend(values.map(f64::to_be_bytes).as_flattened()),
        Value::Vector6Int32(values) => to.extend(values.map(i32::to_be_bytes).as_flattened()),
        Value::Vector6Uint32(values) => to.extend(values.map(u32::to_be_bytes).as_flattened()),
    }
}
