/// The limits of a number of instructions.
pub struct Limit {
    /// The budget, if one was ever specified.
    pub budget: Option<u32>,
    /// The greatest permitted number of instructions; more is unintended growth.
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

/// The limits of the instructions of a control cycle: of its first part, and of the whole.
pub struct Limits {
    /// The limit of the instructions from the bytes of a state until the bytes of its answer are ready.
    pub decided: Limit,
    /// The limit of the instructions of the whole cycle, including the accounting.
    pub all: Limit,
}

impl Limits {
    /// Returns the limits for two counts of instructions: until the bytes of the answer are ready, and in the whole
    /// cycle.
    pub const fn counted(decided: u32, all: u32) -> Self {
        Self { decided: Limit::counted(decided, None), all: Limit::counted(all, None) }
    }

    /// Returns these limits with `budget` for the whole cycle, which its ceiling does not exceed.
    #[must_use]
    pub const fn within(self, budget: u32) -> Self {
        let Limit { ceiling, .. } = self.all;
        let ceiling = if budget < ceiling { budget } else { ceiling };
        Self { all: Limit { budget: Some(budget), ceiling }, ..self }
    }
}
