//! Addresses that no source may have: link-local ones and the metadata services of clouds.
//!
//! They hand out credentials to whoever asks, so they are refused even where the config names them: a literal when the
//! config is read, a name each time it is resolved.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

const METADATA_V4: [Ipv4Addr; 2] = [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(192, 0, 0, 192)];
const METADATA_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254);

/// An address that is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} is a link-local or metadata address; no source may be there")]
pub struct Refused(pub IpAddr);

/// Whether an address may be connected to.
///
/// # Errors
/// [`Refused`] for link-local and metadata addresses, in whichever form they are written.
pub fn allowed(address: IpAddr) -> Result<(), Refused> {
    let refused = match address {
        IpAddr::V4(v4) => refused_v4(v4),
        IpAddr::V6(v6) => v6.is_unicast_link_local() || v6 == METADATA_V6 || embedded_v4(v6).is_some_and(refused_v4),
    };
    if refused { Err(Refused(address)) } else { Ok(()) }
}

fn refused_v4(address: Ipv4Addr) -> bool {
    address.is_link_local() || METADATA_V4.contains(&address)
}

/// The IPv4 address that a v6 one leads to: mapped, compatible, or through NAT64 (RFC 6052) or 6to4 (RFC 3056).
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [first, second, third, fourth, fifth, sixth, high, low] = address.segments();
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match (first, second, third, fourth, fifth, sixth) {
        (0, 0, 0, 0, 0, 0 | 0xffff) | (0x0064, 0xff9b, 0, 0, 0, 0) => Some(v4(high, low)),
        (0x2002, ..) => Some(v4(second, third)),
        _ => None,
    }
}

/// Resolves names as the system does, and refuses a name if any of its addresses is refused.
pub(super) struct CheckedResolver;

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        Box::pin(async move {
            let found = tokio::task::spawn_blocking(move || (host.as_str(), 0).to_socket_addrs()).await??;
            let addresses: Vec<SocketAddr> = found.collect();
            for address in &addresses {
                allowed(address.ip())?;
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
