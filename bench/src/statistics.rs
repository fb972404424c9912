//! Medians and percentiles of small samples.

/// The value below which `q` (0 to 1) of the sample lies, by the nearest rank; NaN of an empty sample.
pub(crate) fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(f64::NAN)
}

/// The middle value; of an even number of values the mean of the middle two.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// The smallest and the largest value.
pub(crate) fn spread(values: &[f64]) -> (f64, f64) {
    (values.iter().copied().fold(f64::NAN, f64::min), values.iter().copied().fold(f64::NAN, f64::max))
}

/// `of / to`, pair by pair: what one round says, whatever the machine was busy with.
pub(crate) fn ratios(of: &[f64], to: &[f64]) -> Vec<f64> {
    of.iter().zip(to).map(|(a, b)| a / b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_middles_spreads_and_ratios() {
        let values = [5.0, 1.0, 4.0, 2.0, 3.0];
        assert_eq!((quantile(&values, 0.5), quantile(&values, 0.99), quantile(&values, 0.0)), (3.0, 5.0, 1.0));
        assert_eq!((median(&values), median(&[1.0, 2.0]), spread(&values)), (3.0, 1.5, (1.0, 5.0)));
        assert!(quantile(&[], 0.5).is_nan() && median(&[]).is_nan());
        assert_eq!(ratios(&[2.0, 9.0], &[4.0, 3.0]), [0.5, 3.0]);
    }
}
