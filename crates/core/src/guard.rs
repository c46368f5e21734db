//! Delimiters around text from outside.
