//! A writer for JSON values, one object per line, with no intermediate tree.
//!
//! Numbers that JSON has no form for are the strings `"NaN"`, `"Infinity"` and `"-Infinity"`: nothing is
//! lost, and `float()` of Python and `Number()` of JavaScript read them back. Where a schema says that a field is a
//! number ([`Json::with_nulls`]), they are `null`.

use std::fmt::Write as _;

/// One JSON text under construction.
#[derive(Clone, Debug, Default)]
pub struct Json {
    text: String,
    nulls: bool,
}

impl Json {
    /// A text in which numbers that JSON has no form for are `null`.
    #[must_use]
    pub const fn with_nulls() -> Self {
        Self { text: String::new(), nulls: true }
    }

    /// The text so far.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Empties the text, keeping its memory.
    pub fn clear(&mut self) {
        self.text.clear();
    }

    /// A comma, unless this is the first item.
    fn separate(&mut self) {
        if !matches!(self.text.as_bytes().last(), None | Some(b'{' | b'[' | b':')) {
            self.text.push(',');
        }
    }

    /// The name of the next value.
    pub fn key(&mut self, name: &str) -> &mut Self {
        self.text(name);
        self.text.push(':');
        self
    }

    /// `{`, before keys and values, until [`Json::end_object`].
    pub fn begin_object(&mut self) -> &mut Self {
        self.separate();
        self.text.push('{');
        self
    }

    /// `}`.
    pub fn end_object(&mut self) -> &mut Self {
        self.text.push('}');
        self
    }

    /// `[`, before values, until [`Json::end_array`].
    pub fn begin_array(&mut self) -> &mut Self {
        self.separate();
        self.text.push('[');
        self
    }

    /// `]`.
    pub fn end_array(&mut self) -> &mut Self {
        self.text.push(']');
        self
    }

    /// A string.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.separate();
        self.text.push('"');
        for c in text.chars() {
            match c {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                // C0 and C1 alike: a terminal must not be steered by what a robot sent.
                c if c.is_control() => self.write(format_args!("\\u{:04x}", u32::from(c))),
                c => self.text.push(c),
            }
        }
        self.text.push('"');
        self
    }

    /// Characters as controllers send them: one byte each, "extended ASCII".
    pub fn latin1(&mut self, bytes: &[u8]) -> &mut Self {
        let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
        self.text(&text)
    }

    /// A whole number.
    pub fn integer(&mut self, value: impl Into<i128>) -> &mut Self {
        self.separate();
        self.write(format_args!("{}", value.into()));
        self
    }

    /// A number, in the fewest digits that read back as the same `f64`.
    pub fn float(&mut self, value: f64) -> &mut Self {
        if value.is_finite() {
            self.separate();
            self.write(format_args!("{value:?}"));
            return self;
        }
        self.not_finite(value.is_nan(), value > 0.0)
    }

    /// A number, in the fewest digits that read back as the same `f32`.
    pub fn single(&mut self, value: f32) -> &mut Self {
        if value.is_finite() {
            self.separate();
            self.write(format_args!("{value:?}"));
            return self;
        }
        self.not_finite(value.is_nan(), value > 0.0)
    }

    /// An array of what `print` prints of each value.
    pub fn array<T: Copy>(
        &mut self,
        values: &[T],
        print: impl for<'j> Fn(&'j mut Self, T) -> &'j mut Self,
    ) -> &mut Self {
        self.begin_array();
        for value in values {
            print(self, *value);
        }
        self.end_array()
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, value: bool) -> &mut Self {
        self.separate();
        self.text.push_str(if value { "true" } else { "false" });
        self
    }

    /// `null`: absent.
    pub fn null(&mut self) -> &mut Self {
        self.separate();
        self.text.push_str("null");
        self
    }

    fn not_finite(&mut self, nan: bool, positive: bool) -> &mut Self {
        match (self.nulls, nan, positive) {
            (true, ..) => self.null(),
            (false, true, _) => self.text("NaN"),
            (false, false, true) => self.text("Infinity"),
            (false, false, false) => self.text("-Infinity"),
        }
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a `String` cannot fail.
        let _ = self.text.write_fmt(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_separated_and_nested() {
        let mut json = Json::default();
        json.begin_object().key("a").integer(1).key("b").begin_array().float(0.1).single(0.1).end_array();
        json.key("c").begin_object().end_object().key("d").null().key("e").boolean(true).end_object();
        assert_eq!(json.as_str(), r#"{"a":1,"b":[0.1,0.1],"c":{},"d":null,"e":true}"#);
    }

    #[test]
    fn large_and_missing_numbers_keep_their_value() {
        let mut json = Json::default();
        json.begin_array()
            .float(f64::NAN)
            .float(f64::INFINITY)
            .single(f32::NEG_INFINITY)
            .float(1e300)
            .integer(u64::MAX);
        json.end_array();
        assert_eq!(json.as_str(), r#"["NaN","Infinity","-Infinity",1e300,18446744073709551615]"#);
    }

    #[test]
    fn where_a_schema_wants_numbers_missing_ones_are_null() {
        let mut json = Json::with_nulls();
        json.begin_array().float(f64::NAN).single(f32::INFINITY).float(1.5).end_array();
        assert_eq!(json.as_str(), "[null,null,1.5]");
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        let mut json = Json::default();
        json.latin1(b"a\"\\\n\x1b\x9bz\xe9");
        assert_eq!(json.as_str(), "\"a\\\"\\\\\\n\\u001b\\u009bz\u{e9}\"");
    }
}
