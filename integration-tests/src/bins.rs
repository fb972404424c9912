//! The product's own programs, as a user would run them.

use anyhow::{Context, Result, ensure};
use std::env;
use std::path::PathBuf;
use std::process::Command;

/// Where the programs are: `DWELL_BIN_DIR`, else the directory of the build this test belongs to.
fn directory() -> Result<PathBuf> {
    if let Some(named) = env::var_os("DWELL_BIN_DIR") {
        return Ok(named.into());
    }
    let test = env::current_exe().context("where is this test?")?;
    let deps = test.parent().and_then(|deps| deps.parent());
    Ok(deps.context("this test lies in no build directory")?.to_owned())
}

/// A program such as `dwell` or `dwell-roller`, with this process's environment but for its `DWELL_` variables:
/// the programs refuse those they do not know, and a test says itself what they are to see.
pub fn program(name: &str) -> Result<Command> {
    let path = directory()?.join(name);
    ensure!(
        path.is_file(),
        "no {}: cargo build --workspace --bins makes it; DWELL_BIN_DIR names another directory",
        path.display()
    );
    let mut command = Command::new(path);
    let ours = |name: &std::ffi::OsString| name.to_string_lossy().starts_with("DWELL_");
    for (name, _) in env::vars_os().filter(|(name, _)| ours(name)) {
        command.env_remove(name);
    }
    Ok(command)
}

/// The workspace's root.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().map(std::path::Path::to_owned).unwrap_or_default()
}
