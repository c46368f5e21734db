//! Names to addresses, without those under which a cloud gives a machine its credentials.

use super::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A name that leads nowhere.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the name leads nowhere that may be reached")]
pub(super) struct Unresolved;

/// Asks the system, off the threads that serve connections.
pub(super) struct Resolver;

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0))
                .await
                .map_err(|_| Unresolved)?
                .filter(|found| !is_metadata_address(found.ip()))
                .collect();
            if found.is_empty() {
                return Err(Unresolved.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// Hosts where clouds serve metadata.
const METADATA_HOSTS: &[&str] = &["metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"];

/// Whether a URL leads to this machine by an address or name that never leads elsewhere.
pub fn is_loopback(url: &Url) -> bool {
    match address(url) {
        Some(IpAddr::V4(address)) => address.is_loopback(),
        Some(IpAddr::V6(address)) => address == Ipv6Addr::LOCALHOST,
        None => url.host_str().is_some_and(|host| host.eq_ignore_ascii_case("localhost")),
    }
}

/// Whether a URL leads to this machine in any way of writing it: also such as one system understands and another does not.
pub fn leads_here(url: &Url) -> bool {
    match address(url).map(|address| address.to_canonical()) {
        Some(address) => address.is_loopback() || address.is_unspecified(),
        None => {
            let name = url.host_str().unwrap_or_default().trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
    }
}

/// Whether a URL leads to a link-local address, or to where clouds serve metadata. Nothing that an agent should reach is there.
pub fn is_metadata(url: &Url) -> bool {
    let named = |host: &str| METADATA_HOSTS.iter().any(|known| host.trim_end_matches('.').eq_ignore_ascii_case(known));
    address(url).is_some_and(is_metadata_address) || url.host_str().is_some_and(named)
}

/// The address that a URL has instead of a name.
fn address(url: &Url) -> Option<IpAddr> {
    url.host_str()?.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn is_metadata_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_metadata_v4(address),
        IpAddr::V6(address) => {
            let carried = address.to_ipv4_mapped().or_else(|| embedded(address));
            address.is_unicast_link_local()
                || address == Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)
                || carried.is_some_and(is_metadata_v4)
        }
    }
}

fn is_metadata_v4(address: Ipv4Addr) -> bool {
    address.is_link_local() || [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(192, 0, 0, 192)].contains(&address)
}

/// The address that NAT64 or the old compatible form leads to.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [first, second, third, fourth, fifth, sixth, high, low] = address.segments();
    let nat64 = (first, second) == (0x64, 0xff9b);
    let compatible = (first, second) == (0, 0) && high != 0;
    (third | fourth | fifth | sixth == 0 && (nat64 || compatible)).then(|| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_where_clouds_keep_credentials() {
        for address in [
            "169.254.169.254",
            "169.254.170.2",
            "100.100.100.200",
            "fe80::1",
            "fd00:ec2::254",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "::a9fe:a9fe",
        ] {
            assert!(is_metadata_address(address.parse().unwrap()), "{address}");
        }
        for address in ["127.0.0.1", "10.0.0.1", "::1", "::ffff:127.0.0.1", "2606:4700::1111", "fd00::1"] {
            assert!(!is_metadata_address(address.parse().unwrap()), "{address}");
        }
    }
}
