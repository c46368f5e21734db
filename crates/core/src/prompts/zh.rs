//! Chinese texts, by the keys of the English ones.

pub(super) const TEXTS: &[(&str, &str)] = &[
    ("tool.error.not_found", "没有名为“{name}”的工具。可用的工具：{available}。"),
];
