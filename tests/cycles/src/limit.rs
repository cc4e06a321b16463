/// A count of instructions, and what it may become.
pub struct Limit {
    /// What it should be, where that was ever said.
    pub budget: Option<u32>,
    /// What it must not exceed: more is growth that nobody decided on.
    pub ceiling: u32,
}

impl Limit {
    /// Nothing may grow by more than a twentieth over the `counted`, which is set anew with each change on purpose, nor
    /// beyond its budget.
    pub const fn counted(counted: u32, budget: Option<u32>) -> Self {
        let grown = counted + counted / 20;
        let ceiling = match budget {
            Some(budget) if budget < grown => budget,
            _ => grown,
        };
        Self { budget, ceiling }
    }
}

/// The limits of a cycle's two parts.
pub struct Limits {
    /// From the bytes of a state until the bytes of its answer are there.
    pub decided: Limit,
    /// With the account.
    pub all: Limit,
}

impl Limits {
    /// Returns the limits by what was counted, until the bytes are there and in all.
    pub const fn counted(decided: u32, all: u32) -> Self {
        Self { decided: Limit::counted(decided, None), all: Limit::counted(all, None) }
    }

    /// Returns the same with a budget for all of it.
    #[must_use]
    pub const fn within(self, budget: u32) -> Self {
        let Limit { ceiling, .. } = self.all;
        let ceiling = if budget < ceiling { budget } else { ceiling };
        Self { all: Limit { budget: Some(budget), ceiling }, ..self }
    }
}
