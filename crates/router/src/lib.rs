//! Sends delayed records to the right level.
