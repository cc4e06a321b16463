//! Whole distributions: the answers of all blocks of a subject together.

use crate::peer::Block;

/// All measured blocks of one program.
#[derive(Default)]
pub(crate) struct Pooled {
    pub(crate) blocks: Vec<Block>,
}

impl Pooled {
    /// Returns a quantile of the answer times \[µs\].
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let mut all: Vec<f64> = self.blocks.iter().flat_map(|block| block.micros.iter().copied()).collect();
        all.sort_by(f64::total_cmp);
        let index = (share * (all.len() - 1) as f64).round() as usize;
        all[index]
    }

    pub(crate) fn answered_percent(&self) -> f64 {
        let sum = |of: fn(&Block) -> u32| self.blocks.iter().map(|block| f64::from(of(block))).sum::<f64>();
        100.0 * sum(|block| block.answered) / sum(|block| block.cycles)
    }

    pub(crate) fn wakes_per_cycle(&self) -> f64 {
        self.blocks.iter().map(|block| block.wakes_per_cycle).sum::<f64>() / self.blocks.len() as f64
    }

    pub(crate) fn slow_blocks(&self, limit: f64) -> usize {
        self.blocks.iter().filter(|block| block.quantile(0.5) > limit).count()
    }
}

/// Returns the median answer time \[µs\] that separates fast from slow blocks, the two kinds that occur on a virtual
/// machine. It lies in the largest gap (by ratio) between the blocks' medians that leaves a tenth of the blocks on each
/// side.
pub(crate) fn between_kinds(of: &[&Pooled]) -> f64 {
    let mut medians: Vec<f64> =
        of.iter().flat_map(|pooled| pooled.blocks.iter().map(|block| block.quantile(0.5))).collect();
    medians.sort_by(f64::total_cmp);
    let edge = medians.len() / 10;
    let inner = &medians[edge..medians.len() - edge];
    let widest = inner.windows(2).max_by(|a, b| (a[1] / a[0]).total_cmp(&(b[1] / b[0])));
    widest.map_or(f64::INFINITY, |pair| (pair[0] * pair[1]).sqrt())
}

/// Returns the `share`-quantile of the ratios between the `of`-quantiles of the answer times of two programs, block by
/// block.
pub(crate) fn ratio_of_pairs(over: &Pooled, under: &Pooled, of: f64, share: f64) -> f64 {
    let pairs = over.blocks.iter().zip(&under.blocks);
    let mut ratios: Vec<f64> = pairs.map(|(over, under)| over.quantile(of) / under.quantile(of)).collect();
    ratios.sort_by(f64::total_cmp);
    ratios[(share * (ratios.len() - 1) as f64).round() as usize]
}
