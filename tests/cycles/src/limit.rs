/// A count of instructions, and the limits of its growth.
pub struct Limit {
    /// The budget, if one was ever specified.
    pub budget: Option<u32>,
    /// The greatest permitted count; more is unintended growth.
    pub ceiling: u32,
}

impl Limit {
    /// Returns the limit for a count. It is 5 % above `counted`, which is updated with each intended change, and at
    /// most the budget.
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
    /// The limit from the bytes of a state until the bytes of its answer are ready.
    pub decided: Limit,
    /// The limit of the whole cycle, including the accounting.
    pub all: Limit,
}

impl Limits {
    /// Returns the limits for two counts: until the bytes are ready, and in all.
    pub const fn counted(decided: u32, all: u32) -> Self {
        Self { decided: Limit::counted(decided, None), all: Limit::counted(all, None) }
    }

    /// Returns the limits with a budget for the whole cycle.
    #[must_use]
    pub const fn within(self, budget: u32) -> Self {
        let Limit { ceiling, .. } = self.all;
        let ceiling = if budget < ceiling { budget } else { ceiling };
        Self { all: Limit { budget: Some(budget), ceiling }, ..self }
    }
}
