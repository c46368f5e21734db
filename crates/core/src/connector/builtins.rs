//! The specifications that come along.

use serde_json::Value;

/// Them all, as a JSON array.
const TEXT: &str = include_str!("builtins.json");

/// The specifications that come along, each as JSON for [`super::ConnectorSpec::read`].
pub fn builtins() -> Vec<String> {
    let all: Vec<Value> = serde_json::from_str(TEXT).unwrap_or_default();
    all.iter().map(Value::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::super::ConnectorSpec;
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_keeps_the_rules() {
        let specs: Vec<ConnectorSpec> = builtins().iter().map(|json| ConnectorSpec::read(json).unwrap()).collect();
        let names: HashSet<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
        assert!(specs.len() >= 20 && names.len() == specs.len());
        for spec in &specs {
            assert!(!spec.agent_description.is_empty() && spec.docs_url.is_some(), "{}", spec.name);
            assert!(!spec.verified || spec.mcp_command.is_some(), "{}: nobody connects a hosted one in tests", spec.name);
        }
    }
}
