//! What a router or a device of a cloud reads from files: the network key, its identity, and the members that it hears.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use hopcast_protocols::time::Instant;
use serde_json::Value;

use super::{Epoch, Guard, Identity, KeyError, Keys, Members, Purpose};

// No doc comment: `clap` would take it for that of the command.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Files {
    /// File with the network key, which all hosts share (see hopcast key): what they say is encrypted and authenticated. It may have up
    /// to four keys, one a line: the first encrypts, all decrypt. SIGUSR1 makes hopcast read it again
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// File with the identity of this host (see hopcast key --identity): it signs what it says, so that no other holder of the network
    /// key can speak in its name
    #[arg(long, value_name = "FILE", requires = "key")]
    identity: Option<PathBuf>,
    /// File with the hosts that are heard: on each line a public key and the addresses of its host. What none of them has signed is
    /// dropped. SIGUSR1 makes hopcast read it again: a host that is no longer in it is expelled [default: all that have the network
    /// key]
    #[arg(long, value_name = "FILE", requires = "identity")]
    members: Option<PathBuf>,
}

impl Files {
    /// Reads them; `None` without a network key.
    ///
    /// # Errors
    ///
    /// See [`KeyError`].
    pub(crate) fn read(&self) -> Result<Option<Credentials>, KeyError> {
        let Some(key) = &self.key else { return Ok(None) };
        Ok(Some(Credentials {
            keys: Keys::read(key)?,
            identity: self.identity.as_deref().map(Identity::read).transpose()?,
            members: self.members.as_deref().map(Members::read).transpose()?,
        }))
    }

    /// Reads the key and the list of members of a running command again. What can't be read stays as it is, and the log says so.
    pub(crate) fn read_again(&self, credentials: Option<&mut Credentials>) -> Changes {
        let (Some(key), Some(credentials)) = (&self.key, credentials) else {
            tracing::warn!("SIGUSR1 without --key: there are no keys to read");
            return Changes::default();
        };
        let mut changes = Changes { keys: Keys::read_again(key), members: None };
        if let Some((keys, _)) = &changes.keys {
            credentials.keys = keys.clone();
        }
        match self.members.as_deref().map(Members::read) {
            Some(Ok(members)) => {
                let expelled = credentials.members.as_ref().map(|before| before.without(&members)).unwrap_or_default();
                for host in &expelled {
                    tracing::info!(%host, "is no member any more");
                }
                tracing::info!(members = members.len(), "the list of members was read again");
                credentials.members = Some(members.clone());
                changes.members = Some((members, expelled));
            }
            Some(Err(error)) => tracing::error!(%error, "the members stay as they were"),
            None => {}
        }
        changes
    }
}

/// How a command seals what it says, for people, from its `status`.
pub(crate) fn sealing(status: &Value) -> String {
    if status["sealed"] != true {
        return "without a network key".into();
    }
    let identity = if status["identity"].is_null() { "" } else { " and signed" };
    let members =
        status["members"].as_u64().map(|count| format!(", {count} member{}", if count == 1 { "" } else { "s" }));
    format!("sealed with a network key{identity}{}", members.unwrap_or_default())
}

/// What has changed in files that were read again.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// The keys, and the epoch under which the first one seals from now on.
    pub(crate) keys: Option<(Keys, Epoch)>,
    /// The members, and the addresses of those that are none any more.
    pub(crate) members: Option<(Members, Vec<Ipv4Addr>)>,
}

/// The keys of a running command.
#[derive(Clone, Debug)]
pub(crate) struct Credentials {
    keys: Keys,
    identity: Option<Identity>,
    members: Option<Members>,
}

impl Credentials {
    /// A guard with them, in which `epoch` was never used before: see [`Epoch::draw`].
    pub(crate) fn guard<C>(&self, purpose: Purpose, epoch: Epoch, now: Instant) -> Guard<C> {
        let guard = Guard::new(&self.keys, purpose, epoch, now);
        match &self.identity {
            Some(identity) => guard.with_identity(identity.clone(), self.members.clone()),
            None => guard,
        }
    }

    /// Warns if the list of members lacks this host.
    pub(crate) fn warn_unless_listed(&self, address: Ipv4Addr) {
        if let (Some(identity), Some(members)) = (&self.identity, &self.members)
            && !members.has(identity, address)
        {
            let public = identity.public();
            tracing::warn!(public, %address, "the list of members lacks this host; if those of others do too, it is not heard");
        }
    }

    /// Whether this host signs what it says.
    pub(crate) fn has_identity(&self) -> bool {
        self.identity.is_some()
    }

    /// The public key of this host, if it has an identity.
    pub(crate) fn public(&self) -> Option<String> {
        self.identity.as_ref().map(Identity::public)
    }

    /// How many members there are, if they are listed.
    pub(crate) fn members(&self) -> Option<usize> {
        self.members.as_ref().map(Members::len)
    }
}
