//! Identities of nodes: a key pair for each, and the list of those that are heard.
//!
//! A node signs each datagram with Ed25519 (RFC 8032), as all that have the network key could seal one in its name. A receiver
//! looks for the public key in a list of **members**, which says which addresses belong to it.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};

/// Length of what a secret key is made from (RFC 8032, section 5.1.5), and of a public key, in bytes.
pub(super) const SEED_LEN: usize = 32;
/// Length of a signature, in bytes.
pub(super) const SIGNATURE_LEN: usize = 64;
/// Length of a mark, in bytes.
pub(super) const MARK_LEN: usize = 8;
/// The most members of a list: as many as senders that are known.
pub(super) const MAX_MEMBERS: usize = 1 << 10;
/// What is signed begins with this, so that no signature means anything elsewhere.
const CONTEXT: &[u8] = b"hopcast 1 identity ";

/// The beginning of a public key, by which members are found.
pub(super) type Mark = [u8; MARK_LEN];

/// What is signed of a datagram.
#[derive(Clone, Copy)]
pub(super) struct Signed<'a> {
    /// The name of the purpose.
    pub(super) purpose: [&'a str; 2],
    /// Kind, epoch and counter.
    pub(super) header: &'a [u8],
    /// The payload.
    pub(super) payload: &'a [u8],
}

impl Signed<'_> {
    fn octets(self) -> Vec<u8> {
        // A name has no zeros in it, and a header has one length: nothing else reads the same.
        [CONTEXT, self.purpose[0].as_bytes(), self.purpose[1].as_bytes(), &[0], self.header, self.payload].concat()
    }
}

/// The key pair of a node.
#[derive(Clone)]
pub struct Identity(Arc<SigningKey>);

impl Identity {
    /// That of this secret.
    pub(crate) fn new(seed: [u8; SEED_LEN]) -> Self {
        Self(Arc::new(SigningKey::from_bytes(&seed)))
    }

    /// A new one, drawn from the platform's source of randomness.
    ///
    /// # Errors
    ///
    /// The platform's, where it has no randomness to give.
    pub(crate) fn draw() -> Result<Self, getrandom::Error> {
        let mut seed = [0; SEED_LEN];
        getrandom::fill(&mut seed)?;
        Ok(Self::new(seed))
    }

    /// The secret, for its file.
    pub(super) fn seed(&self) -> &[u8; SEED_LEN] {
        self.0.as_bytes()
    }

    /// The public key, in hexadecimal digits.
    pub(crate) fn public(&self) -> String {
        self.0.verifying_key().as_bytes().iter().map(|octet| format!("{octet:02x}")).collect()
    }

    #[cfg(any(test, feature = "testkit"))]
    pub(crate) fn public_octets(&self) -> [u8; SEED_LEN] {
        self.0.verifying_key().to_bytes()
    }

    pub(super) fn mark(&self) -> Mark {
        mark(self.0.verifying_key().as_bytes())
    }

    pub(super) fn sign(&self, signed: Signed<'_>) -> [u8; SIGNATURE_LEN] {
        self.0.sign(&signed.octets()).to_bytes()
    }
}

impl core::fmt::Debug for Identity {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "Identity({})", self.public())
    }
}

fn mark(public: &[u8; SEED_LEN]) -> Mark {
    *public.first_chunk().expect("a public key is longer than a mark")
}

/// Who is heard: public keys and the addresses that belong to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members(BTreeMap<Mark, Member>);

/// A node that is heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    key: VerifyingKey,
    addresses: Vec<Ipv4Addr>,
}

impl Members {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it lists this key with this address.
    pub(crate) fn has(&self, identity: &Identity, address: Ipv4Addr) -> bool {
        self.get(&identity.mark()).is_some_and(|member| member.owns(address))
    }

    /// The addresses of those that are listed here, and not, or with another key, in `other`; in their order.
    pub(crate) fn without(&self, other: &Self) -> Vec<Ipv4Addr> {
        let stays = |mark: &Mark, address: &Ipv4Addr, member: &Member| {
            other.get(mark).is_some_and(|now| now.key == member.key && now.owns(*address))
        };
        let all = self
            .0
            .iter()
            .flat_map(|(mark, member)| member.addresses.iter().filter(move |address| !stays(mark, address, member)));
        let mut all: Vec<_> = all.copied().collect();
        all.sort_unstable();
        all
    }

    /// Adds one.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(crate) fn add(&mut self, public: &[u8; SEED_LEN], addresses: Vec<Ipv4Addr>) -> Result<(), String> {
        let key = VerifyingKey::from_bytes(public).ok().filter(|key| !key.is_weak());
        let key = key.ok_or("it is no public key of Ed25519")?;
        if let Some(taken) = addresses.iter().find(|address| self.0.values().any(|member| member.owns(**address))) {
            return Err(format!("{taken} belongs to an earlier line"));
        }
        if self.0.len() >= MAX_MEMBERS {
            return Err(format!("a list has at most {MAX_MEMBERS} members"));
        }
        match self.0.insert(mark(public), Member { key, addresses }) {
            // By chance once in 10^13 lists.
            Some(_) => Err("an earlier line has this key, or one that begins like it".into()),
            None => Ok(()),
        }
    }

    pub(super) fn get(&self, mark: &Mark) -> Option<&Member> {
        self.0.get(mark)
    }
}

impl Member {
    /// Whether this address belongs to it.
    pub(super) fn owns(&self, address: Ipv4Addr) -> bool {
        self.addresses.contains(&address)
    }

    /// Whether it has signed this.
    pub(super) fn has_signed(&self, signed: Signed<'_>, signature: &[u8; SIGNATURE_LEN]) -> bool {
        self.key.verify_strict(&signed.octets(), &Signature::from_bytes(signature)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

    fn of<'a>(purpose: &'a str, header: &'a [u8], payload: &'a [u8]) -> Signed<'a> {
        Signed { purpose: ["node ", purpose], header, payload }
    }

    fn members(identities: &[(&Identity, Ipv4Addr)]) -> Members {
        let mut members = Members::default();
        for (identity, address) in identities {
            members.add(identity.0.verifying_key().as_bytes(), vec![*address]).expect("it is one");
        }
        members
    }

    #[test]
    fn a_signature_holds_for_what_was_signed_and_for_its_node_alone() {
        let (one, other) = (Identity::new([1; SEED_LEN]), Identity::new([2; SEED_LEN]));
        let members = members(&[(&one, ADDRESS), (&other, Ipv4Addr::new(10, 0, 0, 2))]);
        let signature = one.sign(of("olsr", &[1; 25], b"hello"));
        let member = members.get(&one.mark()).expect("it is listed");
        assert!(member.has_signed(of("olsr", &[1; 25], b"hello"), &signature));
        for wrong in [of("aodv", &[1; 25], b"hello"), of("olsr", &[2; 25], b"hello"), of("olsr", &[1; 25], b"hallo")] {
            assert!(!member.has_signed(wrong, &signature));
        }
        let another = members.get(&other.mark()).expect("it is listed");
        assert!(!another.has_signed(of("olsr", &[1; 25], b"hello"), &signature));
        assert!(members.has(&one, ADDRESS) && !members.has(&other, ADDRESS));
    }

    #[test]
    fn keys_that_sign_anything_and_addresses_of_others_are_refused() {
        let one = Identity::new([1; SEED_LEN]);
        let mut list = members(&[(&one, ADDRESS)]);
        // The neutral element of the curve, with which a signature can hold for several messages.
        let mut weak = [0; SEED_LEN];
        weak[0] = 1;
        assert_eq!(list.add(&weak, vec![]), Err("it is no public key of Ed25519".into()));
        let other = Identity::new([2; SEED_LEN]).0.verifying_key();
        let taken = list.add(other.as_bytes(), vec![ADDRESS]);
        assert_eq!(taken, Err("10.0.0.1 belongs to an earlier line".into()));
        assert_eq!(list.len(), 1);
    }

    #[test]
    fn who_is_no_longer_listed_is_told_with_its_addresses() {
        let [one, two] = [1, 2].map(|octet| Identity::new([octet; SEED_LEN]));
        let there = Ipv4Addr::new(10, 0, 0, 2);
        let before = members(&[(&one, ADDRESS), (&two, there)]);
        assert_eq!(before.without(&members(&[(&one, ADDRESS)])), [there]);
        assert_eq!(before.without(&before), Vec::<Ipv4Addr>::new());
        // Another key at the same address is another node.
        assert_eq!(before.without(&members(&[(&two, ADDRESS)])), [ADDRESS, there]);
    }

    #[test]
    fn an_identity_does_not_show_its_secret() {
        let shown = format!("{:?}", Identity::new([0xab; SEED_LEN]));
        assert!(!shown.contains("abab"), "{shown}");
    }
}
