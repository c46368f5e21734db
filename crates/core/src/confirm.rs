//! What a person is shown before a call.
