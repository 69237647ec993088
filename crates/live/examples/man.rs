//! Writes a manual page for each live command, and for each below it, to a folder: `cargo run -p hopcast-live --example man -- DIR`.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use clap_mangen::Man;

fn main() -> io::Result<()> {
    let folder = env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or_else(|| io::Error::other("the folder is missing"))?;
    let mut hopcast = hopcast_live::command::definition();
    hopcast.build();
    hopcast
        .get_subcommands()
        .filter(|command| command.get_name() != "help")
        .try_for_each(|command| write(command, &folder))
}

fn write(command: &clap::Command, folder: &Path) -> io::Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    // No date, so that a page changes only with its command.
    let page =
        Man::new(command.clone()).title(name.to_uppercase()).source(concat!("hopcast ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    page.render(&mut text)?;
    fs::write(folder.join(format!("{name}.1")), text)?;
    command.get_subcommands().filter(|below| below.get_name() != "help").try_for_each(|below| write(below, folder))
}
