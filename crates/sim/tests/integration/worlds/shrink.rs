//! Worlds as proptest draws and shrinks them.

use proptest::prelude::Rng;
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::Value;

use super::draw;

/// All worlds.
#[derive(Debug)]
pub(super) struct Worlds {
    /// The key or word that all are drawn around.
    pub(super) wanted: Option<String>,
}

impl Strategy for Worlds {
    type Tree = Shrinking;
    type Value = Value;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let number = runner.rng().next_u64();
        Ok(Shrinking::new(match &self.wanted {
            Some(wanted) => draw::world_with(number, wanted),
            None => draw::world(number),
        }))
    }
}

/// A world on its way to a smaller one: parts of it are taken out one after another, the largest first.
pub(super) struct Shrinking {
    /// The smallest world so far that fails.
    failing: Value,
    tried: Value,
    /// Parts of `failing` as JSON pointers.
    parts: Vec<String>,
    next: usize,
}

impl Shrinking {
    fn new(world: Value) -> Self {
        Self { parts: parts(&world), failing: world.clone(), tried: world, next: 0 }
    }

    /// Takes out the next part without which the world is valid.
    fn try_next(&mut self) -> bool {
        while let Some(part) = self.parts.get(self.next) {
            self.next += 1;
            let mut smaller = self.failing.clone();
            if draw::remove(&mut smaller, part).is_some() && draw::is_valid(&smaller) {
                self.tried = smaller;
                return true;
            }
        }
        self.tried = self.failing.clone();
        false
    }
}

impl ValueTree for Shrinking {
    type Value = Value;

    fn current(&self) -> Value {
        self.tried.clone()
    }

    fn simplify(&mut self) -> bool {
        if self.tried != self.failing {
            self.failing = self.tried.clone();
            self.parts = parts(&self.failing);
            // Parts before this one are needed, and the one at its place is new.
            self.next = self.next.saturating_sub(1);
        }
        self.try_next()
    }

    fn complicate(&mut self) -> bool {
        self.try_next()
    }
}

/// All parts of a world: from each table and list its members, before theirs.
fn parts(world: &Value) -> Vec<String> {
    fn collect(value: &Value, pointer: &str, parts: &mut Vec<String>) {
        let members: Vec<(String, &Value)> = match value {
            Value::Object(table) => table.iter().map(|(key, value)| (key.clone(), value)).collect(),
            Value::Array(items) => items.iter().enumerate().map(|(place, value)| (place.to_string(), value)).collect(),
            _ => return,
        };
        for (key, value) in members {
            let pointer = format!("{pointer}/{key}");
            parts.push(pointer.clone());
            collect(value, &pointer, parts);
        }
    }
    let mut all = Vec::new();
    collect(world, "", &mut all);
    all
}
