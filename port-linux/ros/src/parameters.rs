//! The parameters of a node, which report its settings: domain, interfaces, names and kinds of topics. They can be read
//! but not set (`core/docs/protocol/ros2-surface.md` 5.8).

use crate::driver_services::{Refused, wrong};
use crate::topic_macros::offers;
use outrigger_ros2_messages::cdr::{decode, encode};
use outrigger_ros2_messages::endpoint::Offer;
use outrigger_ros2_messages::{
    DescribeParameters, DescribeParametersRequest, DescribeParametersResponse, GetParameterTypes,
    GetParameterTypesRequest, GetParameterTypesResponse, GetParameters, GetParametersRequest, GetParametersResponse,
    ListParameters, ListParametersRequest, ListParametersResponse, ListParametersResult, Parameter,
    ParameterDescriptor, ParameterValue, SetParameters, SetParametersAtomically, SetParametersAtomicallyRequest,
    SetParametersAtomicallyResponse, SetParametersRequest, SetParametersResponse, SetParametersResult,
};

offers! {
    /// The services by which clients list, read and set a node's parameters, as every node of ROS 2 has them. They are
    /// named below the node `outrigger`.
    PARAMETER_OFFERS {
        LIST: "outrigger/list_parameters", ListParameters, "names of the node's parameters: how it joined";
        GET: "outrigger/get_parameters", GetParameters, "their values; type 0 for an unknown name";
        TYPES: "outrigger/get_parameter_types", GetParameterTypes, "their types";
        DESCRIBE: "outrigger/describe_parameters", DescribeParameters, "a description of each";
        SET: "outrigger/set_parameters", SetParameters, "rejected: set by options and configuration at the start";
        SET_ALL: "outrigger/set_parameters_atomically", SetParametersAtomically, "rejected likewise";
    }
}

/// The type number of a parameter that is not set, in `rcl_interfaces/msg/ParameterType`.
const NOT_SET: u8 = 0;
const BOOL: u8 = 1;
const INTEGER: u8 = 2;
const STRING: u8 = 4;
const STRING_ARRAY: u8 = 9;
/// The largest number of names in a call; the node has a dozen parameters.
const MOST: usize = 256;

/// The value of a parameter of the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A parameter value that is `true` or `false`.
    Bool(bool),
    /// A parameter value that is an integer.
    Integer(i64),
    /// A parameter value that is a text.
    Text(String),
    /// A parameter value that is a list of texts.
    Texts(Vec<String>),
}

impl Value {
    const fn kind(&self) -> u8 {
        match self {
            Self::Bool(_) => BOOL,
            Self::Integer(_) => INTEGER,
            Self::Text(_) => STRING,
            Self::Texts(_) => STRING_ARRAY,
        }
    }

    fn message(&self) -> ParameterValue {
        let mut value = ParameterValue { r#type: self.kind(), ..ParameterValue::default() };
        match self.clone() {
            Self::Bool(is) => value.bool_value = is,
            Self::Integer(number) => value.integer_value = number,
            Self::Text(text) => value.string_value = text,
            Self::Texts(texts) => value.string_array_value = texts,
        }
        value
    }
}

/// The parameters of the node: the name, value and description of each.
#[derive(Clone, Debug, Default)]
pub struct Parameters(Vec<(&'static str, Value, &'static str)>);

impl Parameters {
    /// Creates the node's parameters from the name, value and description of each.
    #[must_use]
    pub const fn new(of: Vec<(&'static str, Value, &'static str)>) -> Self {
        Self(of)
    }

    fn get(&self, name: &str) -> Option<&(&'static str, Value, &'static str)> {
        self.0.iter().find(|(known, ..)| *known == name)
    }

    /// Returns the response to a call of one of [`PARAMETER_OFFERS`].
    ///
    /// # Errors
    /// An empty response, and the reason, if the call cannot be read.
    pub fn answer(&self, offer: &'static Offer, bytes: &[u8]) -> Result<Vec<u8>, (Vec<u8>, Refused)> {
        let is = |other: &'static Offer| std::ptr::eq(offer, other);
        if is(&LIST) {
            self.list(bytes).map_err(|why| (encode(&ListParametersResponse::default()), why))
        } else if is(&GET) {
            let value = |name: &String| self.get(name).map(|(_, value, _)| value.message()).unwrap_or_default();
            let get = |GetParametersRequest { names }| {
                Ok(encode(&GetParametersResponse { values: few(&names)?.iter().map(value).collect() }))
            };
            read(bytes).and_then(get).map_err(|why| (encode(&GetParametersResponse::default()), why))
        } else if is(&TYPES) {
            let kind = |name: &String| self.get(name).map_or(NOT_SET, |(_, value, _)| value.kind());
            let get = |GetParameterTypesRequest { names }| {
                Ok(encode(&GetParameterTypesResponse { types: few(&names)?.iter().map(kind).collect() }))
            };
            read(bytes).and_then(get).map_err(|why| (encode(&GetParameterTypesResponse::default()), why))
        } else if is(&DESCRIBE) {
            let get = |DescribeParametersRequest { names }| {
                let descriptors = few(&names)?.iter().map(|name| self.describe(name)).collect();
                Ok(encode(&DescribeParametersResponse { descriptors }))
            };
            read(bytes).and_then(get).map_err(|why| (encode(&DescribeParametersResponse::default()), why))
        } else if is(&SET) {
            let set = |SetParametersRequest { parameters }| {
                let results = few(&parameters)?.iter().map(|one| self.set(one)).collect();
                Ok(encode(&SetParametersResponse { results }))
            };
            read(bytes).and_then(set).map_err(|why| (encode(&SetParametersResponse::default()), why))
        } else {
            let set = |SetParametersAtomicallyRequest { parameters }| {
                // An empty list of parameters leaves nothing to refuse.
                let nothing = SetParametersResult { successful: true, reason: String::new() };
                let result = few(&parameters)?.first().map_or(nothing, |one| self.set(one));
                Ok(encode(&SetParametersAtomicallyResponse { result }))
            };
            read(bytes).and_then(set).map_err(|why| (encode(&SetParametersAtomicallyResponse::default()), why))
        }
    }

    /// Returns the response to a call that lists the node's parameters: those that a prefix in the call matches, or all
    /// of them if it has none. No name contains a dot, so a prefix matches only the identical name.
    fn list(&self, bytes: &[u8]) -> Result<Vec<u8>, Refused> {
        let ListParametersRequest { prefixes, .. } = read(bytes)?;
        few(&prefixes)?;
        let asked = |name: &str| prefixes.is_empty() || prefixes.iter().any(|prefix| prefix == name);
        let names = self.0.iter().map(|(name, ..)| *name).filter(|name| asked(name)).map(str::to_owned).collect();
        Ok(encode(&ListParametersResponse { result: ListParametersResult { names, prefixes: vec![] } }))
    }

    fn describe(&self, name: &str) -> ParameterDescriptor {
        let known = self.get(name);
        ParameterDescriptor {
            name: name.to_owned(),
            r#type: known.map_or(NOT_SET, |(_, value, _)| value.kind()),
            description: known.map(|(.., what)| (*what).to_owned()).unwrap_or_default(),
            read_only: known.is_some(),
            ..ParameterDescriptor::default()
        }
    }

    fn set(&self, one: &Parameter) -> SetParametersResult {
        let reason = match self.get(&one.name) {
            Some((name, ..)) => {
                format!(
                    "{name} is read-only: options of `outrigger ros2` and [ros] of its configuration set it at the start"
                )
            }
            None => "this node has no such parameter: see `ros2 param list`".into(),
        };
        SetParametersResult { successful: false, reason }
    }
}

fn read<M: outrigger_ros2_messages::Message>(bytes: &[u8]) -> Result<M, Refused> {
    Ok(decode(bytes)?)
}

fn few<T>(of: &[T]) -> Result<&[T], Refused> {
    if of.len() <= MOST {
        return Ok(of);
    }
    wrong("names", "at most 256", of.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_ros2_messages::Message;

    fn parameters() -> Parameters {
        Parameters::new(vec![
            ("domain", Value::Integer(3), "the domain"),
            ("command", Value::Bool(true), "whether it commands"),
            ("distro", Value::Text("jazzy".into()), "the release"),
            ("peers", Value::Texts(vec!["a".into()]), "hosts"),
        ])
    }

    fn call<A: Message, B: Message>(offer: &'static Offer, request: &A) -> B {
        decode(&parameters().answer(offer, &encode(request)).expect("an answer")).expect("its type")
    }

    fn names(of: &[&str]) -> Vec<String> {
        of.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn they_are_listed_got_and_described_and_what_is_none_is_not_set() {
        let all: ListParametersResponse = call(&LIST, &ListParametersRequest::default());
        assert_eq!(all.result.names, ["domain", "command", "distro", "peers"]);
        let some: ListParametersResponse =
            call(&LIST, &ListParametersRequest { prefixes: names(&["distro", "x"]), depth: 1 });
        assert_eq!(some.result.names, ["distro"]);
        let asked = names(&["peers", "domain", "none", "command", "distro"]);
        let got: GetParametersResponse = call(&GET, &GetParametersRequest { names: asked.clone() });
        assert_eq!(got.values.iter().map(|value| value.r#type).collect::<Vec<_>>(), [9, 2, 0, 1, 4]);
        assert_eq!((got.values[1].integer_value, got.values[3].bool_value), (3, true));
        assert_eq!((&got.values[0].string_array_value, got.values[4].string_value.as_str()), (&names(&["a"]), "jazzy"));
        let types: GetParameterTypesResponse = call(&TYPES, &GetParameterTypesRequest { names: asked.clone() });
        assert_eq!(types.types, [9, 2, 0, 1, 4]);
        let said: DescribeParametersResponse = call(&DESCRIBE, &DescribeParametersRequest { names: asked });
        assert_eq!((said.descriptors[1].description.as_str(), said.descriptors[1].read_only), ("the domain", true));
        assert_eq!((said.descriptors[2].name.as_str(), said.descriptors[2].r#type), ("none", 0));
    }

    #[test]
    fn none_can_be_set_and_the_reason_is_said() {
        let of = |name: &str| Parameter { name: name.into(), ..Parameter::default() };
        let parameters = vec![of("domain"), of("none")];
        let each: SetParametersResponse = call(&SET, &SetParametersRequest { parameters: parameters.clone() });
        assert!(each.results.iter().all(|result| !result.successful));
        assert!(each.results[0].reason.starts_with("domain is read-only"), "{each:?}");
        assert!(each.results[1].reason.contains("no such parameter"), "{each:?}");
        let all: SetParametersAtomicallyResponse = call(&SET_ALL, &SetParametersAtomicallyRequest { parameters });
        assert!(!all.result.successful && all.result.reason.starts_with("domain"));
    }

    #[test]
    fn what_cannot_be_read_or_is_too_much_is_answered_by_nothing_and_said() {
        for offer in PARAMETER_OFFERS {
            for bytes in [&[][..], &[0, 1, 0, 0], &[0, 1, 0, 0, 255, 255, 255, 255]] {
                let (empty, why) = parameters().answer(offer, bytes).expect_err("no request");
                assert!(empty.len() >= 8 && !why.to_string().is_empty());
            }
        }
        let many = GetParametersRequest { names: vec![String::new(); 257] };
        let (_, why) = parameters().answer(&GET, &encode(&many)).expect_err("too many");
        assert!(why.to_string().contains("256"), "{why}");
    }
}
