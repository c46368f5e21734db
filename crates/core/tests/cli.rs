//! The command line tool without a host: real programs, its policy, its limits.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may give up")]

use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use toolbolt_core::builtin::cli::policy::{Policy, Rule, Ruling};
use toolbolt_core::builtin::cli::split::split;
use toolbolt_core::builtin::cli::{CliOptions, CliTool};
use toolbolt_core::prompts::PromptRegistry;
use toolbolt_core::response::{Status, ToolResponse};
use toolbolt_core::tool::{Arguments, CallContext, NativeTool};

const PATH: &str = "/usr/bin:/bin";

fn tool(allowed: &[&str], timeout: Duration) -> Arc<CliTool> {
    let allowed: Vec<String> = allowed.iter().map(|&name| name.to_owned()).collect();
    let any = |name: &String| (name.clone(), Rule::Any { writes: true });
    let options = CliOptions {
        policy: Policy { programs: allowed.iter().map(any).collect(), ..Policy::default() },
        allowed,
        path: PATH.to_owned(),
        env: vec![("PATH".to_owned(), PATH.to_owned())],
        cwd: None,
        timeout,
        max_output_chars: 100,
        max_output_bytes: 400,
        sandbox: None,
        owner: 0,
    };
    Arc::new(CliTool::new(options, None, Arc::new(PromptRegistry::default())).unwrap())
}

async fn run(tool: &Arc<CliTool>, command: &str, timeout: Option<Duration>) -> ToolResponse {
    let value = serde_json::json!({ "command": command });
    let arguments = Arguments { text: value.to_string().into(), value };
    let context = CallContext { call_id: "c".into(), cancelled: CancellationToken::new(), timeout, on_progress: None };
    Arc::clone(tool).run(arguments, context).await
}

#[tokio::test]
async fn the_limit_of_a_call_keeps_what_the_program_wrote() {
    let tool = tool(&["sh"], Duration::from_secs(60));
    let begun = Instant::now();
    let response = run(&tool, "sh -c 'echo early; sleep 60'", Some(Duration::from_secs(2))).await;
    assert!(begun.elapsed() < Duration::from_secs(2), "before the caller gives up");
    assert_eq!(response.status, Status::Partial);
    assert!(response.text.contains("early"));
}

#[tokio::test]
async fn a_dropped_call_leaves_nothing() {
    let tool = tool(&["sh"], Duration::from_secs(60));
    let folder = std::env::temp_dir().join(format!("toolbolt-dropped-{}", std::process::id()));
    let command = format!("sh -c 'sleep 1; touch {}'", folder.display());
    assert!(tokio::time::timeout(Duration::from_millis(300), run(&tool, &command, None)).await.is_err());
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert!(!folder.exists(), "the program was stopped before it wrote");
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[ -~]{0,12}", "\\PC{0,6}", "[;|&<>()$`*?#'\"\\\\ \t\n-]{0,8}"].prop_map(|word| word.replace('\0', ""))
}

proptest! {
    /// Whatever the words are, quoted they come back as they were.
    #[test]
    fn quoted_words_come_back(words in proptest::collection::vec(word(), 1..8)) {
        let single: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
        prop_assert_eq!(split(&single.join(" ")), Ok(words.clone()));
        let double: Vec<String> = words.iter().map(|word| format!("\"{}\"", word.replace('\\', r"\\").replace('"', "\\\""))).collect();
        prop_assert_eq!(split(&double.join(" \t")), Ok(words));
    }

    /// An option that a rule denies is refused wherever it stands before a `--`, alone or in a cluster, spelled out or shortened.
    #[test]
    fn a_denied_option_is_refused_wherever_it_stands(before in proptest::collection::vec("[a-z0-9./]{1,6}", 0..4), after in proptest::collection::vec("[a-z0-9./-]{1,6}", 0..4), flags in "[bdfghirmnsuz]{0,4}", long in 3_usize..8) {
        for bad in [format!("-{flags}o"), format!("-{flags}ox"), "--output"[..long].to_owned(), format!("{}=x", &"--output"[..long])] {
            let arguments: Vec<String> = before.iter().cloned().chain([bad.clone()]).chain(after.iter().cloned()).collect();
            let ruling = Policy::default().judge("sort", "sort", &arguments);
            prop_assert!(matches!(&ruling, Ruling::Refused(refused) if refused.contains(&bad)), "{arguments:?}: {ruling:?}");
        }
    }

    /// Strictness only takes away.
    #[test]
    fn strict_allows_nothing_more(program in "[a-z]{1,5}", arguments in proptest::collection::vec(word(), 0..6)) {
        let strict = Policy { strict: true, ..Policy::default() };
        let ruling = strict.judge(&program, &program, &arguments);
        if matches!(ruling, Ruling::Allowed { .. }) {
            prop_assert_eq!(Policy::default().judge(&program, &program, &arguments), ruling);
        }
    }
}

#[test]
fn a_name_with_a_version_can_only_lose() {
    let judge = |typed: &str, resolved: &str| Policy::default().judge(typed, resolved, &["x".to_owned()]);
    for (typed, resolved) in [("python3.12", "python3.12"), ("clang-18", "clang"), ("foo", "bash"), ("vi", "busybox")] {
        assert_eq!(judge(typed, resolved), Ruling::RefusedProgram, "{typed} is {resolved}");
    }
    // Not what its name without the number is, so it gets no more than an unknown program.
    let options = ["--config=f".to_owned()];
    assert!(matches!(Policy::default().judge("ls2", "ls2", &options), Ruling::Refused(_)));
    assert!(matches!(Policy::default().judge("cat", "busybox", &options), Ruling::Allowed { writes: false, .. }));
    assert_eq!(
        Policy { programs: HashMap::from([("bash".into(), Rule::Any { writes: true })]), ..Policy::default() }
            .judge("bash", "bash", &options),
        Ruling::Allowed { writes: true, network: false }
    );
}
