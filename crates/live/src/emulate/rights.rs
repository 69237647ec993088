//! Rights of the programs of an emulation: what a host's network needs, and no more of root's.
//!
//! `setpriv` (util-linux) starts each program as the user that has called `sudo`, if one has, with the capabilities of
//! [`KEPT`] alone. The program can't gain others: neither through set-user-ID programs nor as root.

use std::fs;
use std::process::Command;

/// Program that takes away rights and then becomes another one.
const SETPRIV: &str = "setpriv";
/// Capabilities that remain (capabilities(7)), with their numbers. Each concerns the network of the namespace in which the
/// program runs: its addresses and routes, raw packets, ports below 1024.
const KEPT: [(&str, u32); 3] = [("net_bind_service", 10), ("net_admin", 12), ("net_raw", 13)];

/// Rights of programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rights {
    /// Arguments of [`SETPRIV`]; `None`: programs have all rights that hopcast has.
    limits: Option<Vec<String>>,
}

impl Rights {
    /// All that hopcast has.
    pub(super) const ALL: Self = Self { limits: None };

    /// Those that a host's network needs. `is_known` says whether a command is installed.
    ///
    /// # Errors
    /// A message that says what is missing.
    pub(super) fn limited(is_known: impl Fn(&str) -> bool) -> Result<Self, String> {
        if !is_known(SETPRIV) {
            return Err(format!(
                "{SETPRIV} is not installed (package util-linux); without it, programs run only with --privileged, \
                 which leaves them all rights of root"
            ));
        }
        let status = fs::read_to_string("/proc/self/status").map_err(|error| format!("/proc/self/status: {error}"))?;
        let of_sudo = |name| std::env::var(name).ok()?.parse().ok();
        Ok(Self { limits: Some(arguments(permitted(&status), of_sudo("SUDO_UID").zip(of_sudo("SUDO_GID")))) })
    }

    /// A command that runs `program` with these rights.
    pub(super) fn command(&self, program: &str) -> Command {
        match &self.limits {
            None => Command::new(program),
            Some(limits) => {
                let mut command = Command::new(SETPRIV);
                command.args(limits).arg(program);
                command
            }
        }
    }
}

/// Capabilities of the process with this `/proc/PID/status`, as the bits of capabilities(7).
fn permitted(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("CapPrm:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Arguments that leave those of [`KEPT`] that are `permitted`, and make the program that of `user`: its numbers and its group's.
fn arguments(permitted: u64, user: Option<(u32, u32)>) -> Vec<String> {
    let kept = KEPT.iter().filter(|(_, bit)| permitted >> bit & 1 == 1);
    let kept: String = kept.map(|(name, _)| format!(",+{name}")).collect();
    let user = user.filter(|&(user, _)| user != 0).map(|(user, group)| {
        ["--reuid".to_owned(), user.to_string(), "--regid".to_owned(), group.to_string(), "--init-groups".to_owned()]
    });
    let sets = ["--bounding-set", "--inh-caps", "--ambient-caps"];
    let sets = sets.into_iter().flat_map(|set| [set.to_owned(), format!("-all{kept}")]);
    user.into_iter().flatten().chain(["--no-new-privs".to_owned()]).chain(sets).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_that_are_not_there_are_not_asked_for() {
        let status =
            "Name:\thopcast\nCapInh:\t0000000000000000\nCapPrm:\t0000000000001400\nCapEff:\t0000000000001400\n";
        assert_eq!(permitted(status), 1 << 10 | 1 << 12);
        assert_eq!(permitted("Name:\thopcast\n"), 0);
        let all = "-all,+net_bind_service,+net_admin";
        let expected = ["--no-new-privs", "--bounding-set", all, "--inh-caps", all, "--ambient-caps", all];
        assert_eq!(arguments(permitted(status), None), expected);
        assert_eq!(arguments(0, None)[2], "-all");
    }

    #[test]
    fn programs_belong_to_the_user_of_sudo() {
        let expected = ["--reuid", "1000", "--regid", "100", "--init-groups"];
        assert_eq!(arguments(0, Some((1000, 100)))[..5], expected);
        assert_eq!(arguments(0, Some((0, 0)))[0], "--no-new-privs", "root has called it");
    }

    #[test]
    fn a_command_is_itself_with_all_rights() {
        assert_eq!(Rights::ALL.command("/bin/sh").get_program(), "/bin/sh");
    }
}
