//! What a specification may say and where its credentials go, without a host.

use super::{ConnectorSpec, Launch, Sources};
use crate::error::ErrorCode;
use serde_json::{Value, json};

fn spec(more: &Value) -> Value {
    let mut spec = json!({
        "name": "far", "displayName": "Far", "category": "test", "description": "Test", "authType": "API_KEY",
        "authFields": [{ "key": "key", "label": "Key", "envVar": "FAR_KEY" }], "mcpCommand": ["server"],
    });
    if let (Some(spec), Some(more)) = (spec.as_object_mut(), more.as_object()) {
        spec.extend(more.clone());
        spec.retain(|_, value| !value.is_null());
    }
    spec
}

fn read(more: &Value) -> Result<ConnectorSpec, ErrorCode> {
    ConnectorSpec::read(&spec(more).to_string()).map_err(|error| error.code)
}

fn sources(given: &[(&str, &str)], stored: &[(&str, &str)], environment: &[(&str, &str)]) -> Sources {
    let map = |pairs: &[(&str, &str)]| pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Sources { given: map(given), stored: map(stored), environment: map(environment), ..Sources::default() }
}

#[test]
fn what_is_read_reads_the_same_again() {
    let spec = read(&json!({})).unwrap();
    assert_eq!(ConnectorSpec::read(&serde_json::to_string(&spec).unwrap()).unwrap(), spec);
    for name in ["", "a/b", "__proto__", "é", &"x".repeat(65)] {
        assert_eq!(read(&json!({ "name": name })), Err(ErrorCode::InvalidName), "{name}");
    }
    for wrong in [json!({ "mcpUrl": "https://example.com" }), json!({ "mcpCommand": null }), json!({ "mcpCommand": ["s", "--token", "x"] })]
    {
        assert_eq!(read(&wrong), Err(ErrorCode::InvalidOptions), "{wrong}");
    }
}

#[test]
fn each_credential_comes_from_the_first_source_that_has_it() {
    let spec = read(&json!({})).unwrap();
    for (sources, expected) in [
        (sources(&[("key", "given")], &[("key", "stored")], &[("key", "variable")]), Some("given")),
        (sources(&[("key", "")], &[("key", "stored")], &[("key", "variable")]), Some("stored")),
        (sources(&[], &[("key", "")], &[("key", "variable")]), Some("variable")),
        (sources(&[], &[("other", "stored")], &[("key", "")]), None),
    ] {
        match (spec.launch(&sources), expected) {
            (Ok(Launch::Command { env, .. }), Some(expected)) => assert_eq!(env.get("FAR_KEY").map(String::as_str), Some(expected)),
            (Err(error), None) => {
                assert_eq!(error.code, ErrorCode::CredentialsMissing);
                assert!(error.message.contains("'Key'") && error.data.is_some(), "{error}");
            }
            (launch, expected) => panic!("{launch:?} {expected:?}"),
        }
    }
}

#[test]
fn no_value_is_told() {
    let spec = read(&json!({ "mcpCommand": ["server", "planted-in-a-word"] })).unwrap();
    let planted = "planted-in-a-word";
    let all = sources(&[("key", planted)], &[], &[]);
    assert!(!format!("{all:?}").contains(planted));
    let error = spec.launch(&all).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidOptions);
    assert!(!format!("{error:?}").contains(planted));
    let far = read(&json!({ "mcpCommand": null, "mcpUrl": "https://example.com/mcp" })).unwrap();
    let launch = far.launch(&all).unwrap();
    assert!(!format!("{launch:?}").contains(planted));
    let Launch::Url { headers, .. } = launch else { panic!("an address") };
    assert_eq!(headers.get("Authorization"), Some(&format!("Bearer {planted}")));
}

#[test]
fn an_authorization_is_asked_for() {
    let far = json!({ "mcpCommand": null, "mcpUrl": "https://example.com/mcp", "authType": "OAUTH2", "authFields": [] });
    let far = read(&far).unwrap();
    assert_eq!(far.launch(&sources(&[], &[], &[])).unwrap_err().code, ErrorCode::AuthorizationRequired);
    let launch = far.launch(&sources(&[], &[("access_token", "t")], &[])).unwrap();
    assert!(matches!(launch, Launch::Url { headers, .. } if headers.get("Authorization").is_some_and(|value| value == "Bearer t")));
}
