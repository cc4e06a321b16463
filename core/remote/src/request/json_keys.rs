//! The JSON keys of a request message, and the values that each accepts.

/// A key of a request's JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The key `do`: the kind of the request.
    Do,
    /// The key `id`: a number chosen by the sender, which the answer repeats.
    Id,
    /// The key `epoch`: the epoch of the session with the robot, a counter of connections and losses of authority, as the
    /// sender observed it.
    Epoch,
    /// The key `output`: the name of an output of the controller, and the value to set.
    Output,
    /// The key `source`: the name of a sensor in the configuration.
    Source,
    /// The key `values`: the values of a sensor's reading.
    Values,
    /// The key `seq`: the sequence number of a sensor's reading.
    Seq,
    /// The key `how`: the parameters of a motion by hand, by force or to a target, whether a contact ends a motion, or a
    /// command to the dashboard server.
    How,
    /// The key `challenge`: the challenge of a recent answer, which shows that the request is fresh.
    Challenge,
    /// The key `what`: the `id` of an earlier request to withdraw.
    What,
}

impl Key {
    pub(super) const ALL: [Self; 10] = [
        Self::Do,
        Self::Id,
        Self::Epoch,
        Self::Output,
        Self::Source,
        Self::Values,
        Self::Seq,
        Self::How,
        Self::Challenge,
        Self::What,
    ];

    /// Returns the name of the JSON key, as it is written in a request line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Do => "do",
            Self::Id => "id",
            Self::Epoch => "epoch",
            Self::Output => "output",
            Self::Source => "source",
            Self::Values => "values",
            Self::Seq => "seq",
            Self::How => "how",
            Self::Challenge => "challenge",
            Self::What => "what",
        }
    }

    pub(super) const fn bit(self) -> u16 {
        1 << self as u8
    }

    /// Returns a description of the values that the JSON key accepts.
    pub(super) const fn expected(self) -> &'static str {
        match self {
            Self::Do => WORDS,
            Self::Id | Self::Epoch | Self::Seq | Self::Challenge | Self::What => "an integer from 0 to 4294967295",
            Self::Output => "a text such as \"digital-out.3=on\"",
            Self::How => "a text such as \"z=-20\", or \"on\"",
            Self::Source => "the name of a source, as a text",
            Self::Values => "an array of 1 to 6 numbers that an f32 holds",
        }
    }
}

pub(super) const WORDS: &str = "one of \"status\", \"watch\", \"request\", \"resume\", \"release\", \"acknowledge\", \"set\", \"sample\", \
                     \"hand-back\", \"resend\", \"freedrive\", \"force\", \"tool-contact\", \"renew\", \"stiffen\", \
                     \"move\", \"cancel\", \"dashboard\", \"withdraw\"";
