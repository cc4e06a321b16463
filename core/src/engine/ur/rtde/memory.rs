//! The memory of the RTDE link to port 30004, as one value.

use super::state_recipe::{COUNT, LEAST, RtdeStates, TRANSMIT};
use super::{StateLink, sealed};
use crate::client::rtde::{Claim, Claims, ClientMemory, Inputs};
use outrigger_wire::rtde::registry::Direction;
use outrigger_wire::rtde::{DynamicRecipe, Field};

/// The number of RTDE inputs in the largest group that can be owned.
const LONGEST: usize = if cfg!(feature = "programs") { 8 } else { 4 };

/// The memory of a session's link to port 30004, to be lent to one engine as
/// [`Memory::rtde`](crate::engine::ur::Memory::rtde). A session is given this, and not only bytes, so that firmware
/// without it has no code of RTDE.
///
/// `RECEIVE` is the size of the receive memory, at least 1024: it holds a state with all its values twice, and the
/// longest texts; with more, one read takes more of a backlog. `CLAIMS` is the number of groups of inputs that it has
/// room for, 0 … 7: of those that [`ConnectConfig::claims`](crate::engine::ur::ConnectConfig::claims) names, this many
/// are requested, in order.
///
/// ```
/// use outrigger_core::engine::ur::rtde::RtdeMemory;
/// use outrigger_core::engine::ur::{Memory, UrConfig, UrEngine};
/// use outrigger_core::law::{JointServo, JointServoConfig, Reference};
///
/// let mut rtde: RtdeMemory = RtdeMemory::new();
/// let memory = Memory { primary: &mut [0; 4096], realtime: &mut [0; 8192], rtde: Some(&mut rtde) };
/// let law = JointServo::new(Reference::Hold, JointServoConfig::default());
/// let engine = UrEngine::new(UrConfig::default(), law, memory)?;
/// assert!(engine.peer().rtde().is_some());
/// # Ok::<(), outrigger_core::engine::ConfigError>(())
/// ```
#[derive(Debug)]
pub struct RtdeMemory<'m, const RECEIVE: usize = { LEAST }, const CLAIMS: usize = 0> {
    outputs: [Field<'static>; COUNT],
    receive: [u8; RECEIVE],
    transmit: [u8; TRANSMIT],
    groups: [[Field<'static>; LONGEST]; CLAIMS],
    /// The number of bytes of the receive memory `receive` that are used.
    used: usize,
    /// The groups of inputs and the RTDE link, made of the fields above, once an engine has the memory.
    inputs: Option<[Inputs<'static, 'm>; CLAIMS]>,
    states: Option<RtdeStates<'m>>,
}

impl<const RECEIVE: usize, const CLAIMS: usize> RtdeMemory<'_, RECEIVE, CLAIMS> {
    /// Creates empty memory for an RTDE link.
    #[must_use]
    pub const fn new() -> Self {
        const { assert!(RECEIVE >= LEAST, "too little memory to receive into") };
        Self {
            outputs: [Field::EMPTY; COUNT],
            receive: [0; RECEIVE],
            transmit: [0; TRANSMIT],
            groups: [[Field::EMPTY; LONGEST]; CLAIMS],
            used: RECEIVE,
            inputs: None,
            states: None,
        }
    }
}

impl<const RECEIVE: usize, const CLAIMS: usize> Default for RtdeMemory<'_, RECEIVE, CLAIMS> {
    fn default() -> Self {
        Self::new()
    }
}

/// An [`RtdeMemory`] of any size.
pub trait StateMemory<'m>: Send + sealed::Sealed {
    /// Returns the RTDE link that uses this memory, with the recipes of those `claims` that there is room for; `None` if the
    /// memory is too small.
    fn link(&'m mut self, claims: Claims) -> Option<&'m mut dyn StateLink>;
    /// Returns the number of groups of inputs that the memory has room for.
    fn groups(&self) -> usize;
    /// Restricts the receive memory to `size` bytes; `None` if it has fewer, or if `size` is below the minimum.
    #[cfg(feature = "record")]
    fn shrink(&mut self, size: usize) -> Option<()>;
}

impl<const RECEIVE: usize, const CLAIMS: usize> sealed::Sealed for RtdeMemory<'_, RECEIVE, CLAIMS> {}

impl<'m, const RECEIVE: usize, const CLAIMS: usize> StateMemory<'m> for RtdeMemory<'m, RECEIVE, CLAIMS> {
    fn link(&'m mut self, claims: Claims) -> Option<&'m mut dyn StateLink> {
        let Self { outputs, receive, transmit, groups, used, inputs, states } = self;
        let mut wanted = Claim::ALL.into_iter().filter(|claim| claims.has(*claim));
        let count = wanted.clone().count();
        let inputs = inputs.insert(groups.each_mut().map(|fields| {
            let (names, types) = wanted.next().map_or(("", &[][..]), |claim| (claim.inputs(), claim.types()));
            // There is room for every group.
            let recipe = DynamicRecipe::with_types(names, "", types, Direction::Input, fields);
            Inputs::new(recipe.unwrap_or_else(|_| DynamicRecipe::empty(Direction::Input)))
        }));
        let inputs = inputs.get_mut(..count.min(CLAIMS))?;
        let memory = ClientMemory { receive: receive.get_mut(..*used)?, transmit };
        let mirrored = cfg!(feature = "programs") && claims.has(Claim::Program);
        Some(states.insert(RtdeStates::new(outputs, inputs, memory, mirrored)?))
    }

    fn groups(&self) -> usize {
        CLAIMS
    }

    #[cfg(feature = "record")]
    fn shrink(&mut self, size: usize) -> Option<()> {
        self.used = Some(size).filter(|size| (LEAST..=RECEIVE).contains(size))?;
        Some(())
    }
}

impl core::fmt::Debug for dyn StateMemory<'_> + '_ {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("StateMemory")
    }
}
