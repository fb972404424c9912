//! The invariants of the crate's documentation, after every event of random lists: spurious, stale, repeated and
//! reordered reports, clocks that jump or cannot be read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod model;
mod ops;

use ops::{Op, op};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn hold_after_every_event(level in 0usize..2, ops in prop::collection::vec(op(), 1..120)) {
        let mut world = ops::World::new(["1s", "1m"][level]);
        for op in ops {
            world.apply(op);
        }
        world.finish();
    }
}

#[test]
fn the_model_is_not_blind() {
    let mut world = ops::World::new("1s");
    for op in
        [Op::Assign(0), Op::Advance(3_000), Op::Head(0, 0, -3_000), Op::Tick, Op::Ack(0), Op::Advance(3_000), Op::Tick]
    {
        world.apply(op);
    }
    assert_eq!((world.model.sends, world.model.completed, world.model.commits), (1, 1, 1));
}
