//! Text from outside, made safe to read.
