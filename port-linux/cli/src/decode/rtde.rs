//! Decodes the packages that a controller sends on 30004. Set-up replies contain types without names, and data
//! contains neither.

use outrigger_wire::fields::{FieldVisitor, Group, Value as Shown};
use outrigger_wire::rtde::registry::Direction;
use outrigger_wire::rtde::{
    DynamicRecipe, Field, NameList, Package, PackageType, Presence, Protocol, Reply, TypeList, TypeWord,
};

/// A decoder of one recorded RTDE connection, with the names and types of its output variables as far as they are
/// known.
///
/// The protocol version is not in the bytes of a recording: it is recognized by the form of the packages.
pub(super) struct Exchange {
    protocol: Option<Protocol>,
    /// The names of RTDE output variables that the user has given with `--recipe`.
    given: Vec<String>,
    /// The types in the controller's last reply to a request for outputs.
    answered: Option<Vec<String>>,
    /// The given names that the last request for outputs contained. Names that were not found are assumed not to be
    /// requested again.
    asked: Vec<String>,
}

impl Exchange {
    pub(super) fn new(recipe: Option<&str>) -> Self {
        let list = recipe.unwrap_or_default().as_bytes();
        let given: Vec<_> = NameList(list).iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        Self { protocol: None, asked: given.clone(), given, answered: None }
    }

    /// Forgets the previous RTDE connection for a new one in the recording; the names that the user gave are kept.
    pub(super) fn begin(&mut self) {
        self.protocol = None;
        self.answered = None;
        self.asked.clone_from(&self.given);
    }

    /// Passes the fields of one RTDE package to `fields`.
    ///
    /// # Errors
    /// Returns a description of the fault of the package.
    pub(super) fn visit(&mut self, message: &[u8], fields: &mut dyn FieldVisitor) -> Result<(), String> {
        let package = Package::new_checked(message).map_err(|error| error.to_string())?;
        let protocol = self.protocol_of(&package);
        let reply = Reply::parse(&package, protocol).map_err(|error| error.to_string())?;
        match reply {
            // A connection begins with this version without a request.
            Reply::ProtocolVersion { accepted: true } => self.protocol = Some(Protocol::V2),
            Reply::Outputs { types, .. } => {
                self.protocol = Some(protocol);
                self.learn(types)?;
            }
            Reply::Data { recipe, values } => return self.data(&package, recipe, values, fields),
            _ => {}
        }
        reply.visit(&package, fields);
        Ok(())
    }

    /// Returns the protocol version of the RTDE connection; until a reply has shown it, the version that the form of
    /// this package suggests.
    fn protocol_of(&self, package: &Package<'_>) -> Protocol {
        let is_first = |payload: &[u8]| match (package.package_type, payload) {
            (PackageType::SetupOutputs, list) => {
                !list.is_empty() && TypeList(list).iter().all(|word| !matches!(word, TypeWord::Other(_)))
            }
            // Version 1 has a level, followed by text to the end. A text is of version 1 if its bytes do not add up
            // as two counted texts and a level.
            (PackageType::Text, text) => counted_texts(text) != Some(text.len()),
            (PackageType::Data, values) => self.size() == Some(values.len()),
            _ => false,
        };
        match self.protocol {
            Some(protocol) if package.package_type != PackageType::SetupOutputs => protocol,
            _ if is_first(package.payload) => Protocol::V1,
            _ => Protocol::V2,
        }
    }

    /// Stores the types in the controller's reply to a request for outputs, and relates them to the names that the user
    /// gave.
    fn learn(&mut self, types: TypeList<'_>) -> Result<(), String> {
        let words: Vec<_> = NameList(types.0).iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        let found = |(name, word): (&String, &String)| (word != "NOT_FOUND").then(|| name.clone());
        if let Some(answered) = &self.answered {
            self.asked = self.asked.iter().zip(answered).filter_map(found).collect();
        }
        if self.asked.len() != words.len() {
            self.asked.clone_from(&self.given);
        }
        if !self.given.is_empty() && self.asked.len() != words.len() {
            let (names, types) = (self.given.len(), words.len());
            return Err(format!("the set-up is of {types} variables, --recipe names {names}"));
        }
        self.answered = Some(words);
        Ok(())
    }

    /// Returns the names of the values in a data package, placeholders if the user gave none, and their types as far as
    /// they are known.
    fn recipe(&self) -> (String, Option<String>) {
        let unnamed = self.asked.is_empty();
        let answered = self.answered.as_ref().map(|words| words.join(","));
        let count = self.answered.as_ref().map_or(0, Vec::len);
        let names = if unnamed { vec![String::from("?"); count].join(",") } else { self.asked.join(",") };
        (names, answered)
    }

    /// Calls `use_it` with the names and types of the values in a data package.
    ///
    /// # Errors
    /// Returns an error if a type is unknown.
    fn with_recipe<T>(&self, use_it: impl FnOnce(&DynamicRecipe<'_, '_>) -> T) -> Result<T, String> {
        let (names, answered) = self.recipe();
        let mut memory = vec![Field::EMPTY; NameList(names.as_bytes()).iter().count()];
        let mut recipe =
            DynamicRecipe::new(&names, Direction::Output, &mut memory).map_err(|error| error.to_string())?;
        if let Some(words) = answered {
            recipe.answered(TypeList(words.as_bytes())).map_err(|error| error.to_string())?;
        }
        if let Some(unknown) = recipe.fields().iter().find(|field| field.presence == Presence::Unknown) {
            return Err(format!(
                "nothing says what type {} has: no set-up reply came before",
                unknown.name.escape_debug()
            ));
        }
        Ok(use_it(&recipe))
    }

    /// Returns the size of all values of a data package \[B\]; `None` if a type is unknown.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method itself is not general over lifetimes")]
    fn size(&self) -> Option<usize> {
        self.with_recipe(|recipe| recipe.size()).ok().flatten()
    }

    fn data(
        &self,
        package: &Package<'_>,
        number: Option<u8>,
        values: &[u8],
        fields: &mut dyn FieldVisitor,
    ) -> Result<(), String> {
        let unknown = self.asked.is_empty() && self.answered.is_none();
        if unknown {
            Reply::Data { recipe: number, values }.visit(package, fields);
            return Ok(());
        }
        self.with_recipe(|recipe| {
            let data = recipe.read(values).map_err(|error| format!("values of another recipe: {error}"))?;
            // The header and the recipe's number, without the bytes of the values.
            Reply::Data { recipe: number, values: &[] }.visit(package, &mut WithoutValues(fields));
            if self.asked.is_empty() {
                fields.begin("values", Group::List);
                data.iter().filter_map(|(_, value)| value).for_each(|value| value.visit("", fields));
                fields.end();
            }
            for (name, value) in data.iter().filter(|_| !self.asked.is_empty()) {
                if let Some(value) = value {
                    value.visit(&name.to_ascii_lowercase(), fields);
                }
            }
            Ok(())
        })?
    }
}

/// A visitor that passes on every field of an RTDE package except the field with the bytes of its values.
struct WithoutValues<'j>(&'j mut dyn FieldVisitor);

impl FieldVisitor for WithoutValues<'_> {
    fn field(&mut self, name: &str, value: Shown<'_>) {
        if name != "values" {
            self.0.field(name, value);
        }
    }
    fn begin(&mut self, name: &str, group: Group) {
        self.0.begin(name, group);
    }
    fn end(&mut self) {
        self.0.end();
    }
}

/// Returns the length that a text package of protocol version 2 with this content must have, according to the length
/// bytes in it. `None` if `text` is too short to contain them.
fn counted_texts(text: &[u8]) -> Option<usize> {
    let message = usize::from(*text.first()?);
    let source = usize::from(*text.get(message.saturating_add(1))?);
    Some(message.saturating_add(source).saturating_add(3))
}
