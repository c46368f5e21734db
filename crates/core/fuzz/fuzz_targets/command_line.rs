//! Splitting a command line and judging its arguments: no panic, and nothing that a quoted form does not give back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolbolt_core::builtin::cli::policy::Policy;
use toolbolt_core::builtin::cli::split::split;

fuzz_target!(|line: &str| {
    let Ok(words) = split(line) else { return };
    let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
    assert_eq!(split(&quoted.join(" ")).ok(), Some(words.clone()).filter(|_| quoted.join(" ").len() <= 65_536));
    if let Some((program, arguments)) = words.split_first() {
        for strict in [false, true] {
            let policy = Policy { strict, ..Policy::default() };
            let _ = policy.judge(program, program, arguments);
            let _ = policy.arguments(program, program, arguments);
        }
    }
});
