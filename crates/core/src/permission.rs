//! Allow and deny lists by name and origin.
