//! Types that are one text in YAML and JSON: read by their [`FromStr`](std::str::FromStr), shown by their `Display`.

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

use crate::{Delay, Delivery, Glob, LevelName, LevelState, PollInterval, Rounding};

macro_rules! as_text {
    ($($kind:ty),+) => {$(
        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$kind, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }

        impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )+};
}

as_text!(Delay, Delivery, Glob, LevelName, LevelState, PollInterval, Rounding);
