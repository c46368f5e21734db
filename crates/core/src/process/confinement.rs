//! What a child is confined to, and how far that holds; who confines it differs by system.

/// What a child may do to the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// The only folders beneath which files may be changed.
    pub writable: Vec<String>,
    /// Whether TCP may be used.
    pub network: bool,
    /// Whether nothing is started where the kernel cannot confine it.
    pub required: bool,
}

/// How far the kernel keeps a child within its sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confinement {
    /// Not at all.
    #[default]
    None,
    /// In part: the kernel knows only some of the limits.
    Partial,
    /// As asked.
    Full,
}
