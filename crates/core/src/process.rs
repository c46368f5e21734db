//! Child processes: spawning in a group, killing the group.
