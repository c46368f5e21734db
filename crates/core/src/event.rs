//! What the gate records of a call, without secrets.
