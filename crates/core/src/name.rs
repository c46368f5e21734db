//! Names of tools: the rule, and how foreign names are made to fit.
