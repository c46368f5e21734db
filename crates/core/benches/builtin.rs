//! What the built-in tools cost by themselves: `cargo bench -p toolbolt-core --bench builtin`.

use divan::Bencher;
use toolbolt_core::builtin::calculator::calculate;
use toolbolt_core::builtin::cli::policy::Policy;
use toolbolt_core::builtin::cli::split::split;

fn main() {
    divan::main();
}

/// Everyday ones, and the dearest of each kind that the limits let through.
#[divan::bench(args = ["(1 + 2) * sqrt(16) / 3", "2**100", "-7 // 2 + round(2.5)", "9**4190", "factorial(1440)", "7**4000 // 3**2000 % 10**1999", "gcd(9**4190, 6**5100)"])]
fn calculator(expression: &str) {
    let _ = divan::black_box(calculate(divan::black_box(expression)));
}

#[divan::bench(args = ["ls -la docs", "git log --oneline -n 5 --since=2.weeks -- src", "sort -k 2 -t , --output=x f", "find . -name '*.md' -mtime -7 -print", "unknown --format json file"])]
fn command_policy(bencher: Bencher, line: &str) {
    let policy = Policy::default();
    bencher.bench(|| {
        let words = split(divan::black_box(line)).unwrap_or_default();
        let (program, arguments) = words.split_first()?;
        Some(policy.judge(program, program, arguments))
    });
}

/// As many words as a line can have.
#[divan::bench]
fn command_policy_of_a_full_line(bencher: Bencher) {
    let (policy, line) = (Policy::default(), format!("git log {}", "-p ".repeat(4_000)));
    bencher.bench(|| {
        let words = split(divan::black_box(&line)).unwrap_or_default();
        let (program, arguments) = words.split_first()?;
        Some(policy.judge(program, program, arguments))
    });
}
