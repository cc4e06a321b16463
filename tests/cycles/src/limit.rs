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
