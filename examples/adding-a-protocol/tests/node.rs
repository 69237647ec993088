//! The protocol between real hosts: three network namespaces in a row. Skipped, and said so, without root.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, reason = "a skipped test says so")]
#![allow(clippy::disallowed_methods, reason = "real routers take real time")]

use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Three hosts in a row, 10.0.0.1 to 10.0.0.3, each with a router.
struct Line {
    names: [String; 3],
    routers: Vec<Child>,
}

fn run(line: &str) -> bool {
    let mut words = line.split(' ');
    let program = words.next().expect("a command has a name");
    Command::new(program).args(words).stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

impl Line {
    fn new() -> Self {
        let names = [0, 1, 2].map(|node| format!("tree-{}-{node}", std::process::id()));
        let mut line = Self { names, routers: Vec::new() };
        for name in &line.names {
            assert!(run(&format!("ip netns add {name}")));
        }
        for node in 0..2 {
            let [left, right] = [&line.names[node], &line.names[node + 1]];
            assert!(run(&format!("ip -n {left} link add r{node} type veth peer l{} netns {right}", node + 1)));
        }
        for (node, interfaces) in [&["r0"][..], &["l1", "r1"], &["l2"]].into_iter().enumerate() {
            let name = line.names[node].clone();
            for interface in interfaces {
                assert!(run(&format!("ip -n {name} address add 10.0.0.{}/32 dev {interface}", node + 1)));
                assert!(run(&format!("ip -n {name} link set {interface} up")));
            }
            let mut router = Command::new("ip");
            router.args(["netns", "exec", &name, env!("CARGO_BIN_EXE_collection-tree-live"), "node"]);
            router.args(["--network", "10.0.0.0/24", "--protocol", "tree", "--parameters"]);
            router.arg("{ root = \"10.0.0.1\", interval = 0.2 }");
            router.args(interfaces.iter().flat_map(|interface| ["--interface", interface]));
            line.routers.push(router.stderr(Stdio::null()).spawn().expect("ip is there"));
        }
        line
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        for router in &mut self.routers {
            run(&format!("kill {}", router.id()));
            let _ = router.wait();
        }
        for name in &self.names {
            run(&format!("ip netns del {name}"));
        }
    }
}

#[test]
fn a_leaf_reaches_the_root_over_a_relay() {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    if !is_root || !Path::new("/dev/net/tun").exists() || !run("ip -V") {
        assert!(std::env::var_os("HOPCAST_REQUIRE_TOOLS").is_none(), "root's rights, /dev/net/tun or ip are missing");
        println!("skipped: root's rights, /dev/net/tun or ip are missing");
        return;
    }
    let line = Line::new();
    // Nobody listens at this port of the root, which says so: the answer comes back along the trail that the request leaves.
    let knock = ["netns", "exec", &line.names[2], "timeout", "1", "bash", "-c", "echo > /dev/tcp/10.0.0.1/9"];
    let is_answered = || {
        let output = Command::new("ip").args(knock).output().expect("ip is there");
        String::from_utf8_lossy(&output.stderr).contains("refused")
    };
    assert!((0..30).any(|_| is_answered() || !run("sleep 0.3")), "the root does not answer");
}
