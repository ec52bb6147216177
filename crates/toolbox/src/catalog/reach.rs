//! Which addresses a host of the config may lead to.
//!
//! Link-local addresses and those of cloud metadata services hand out credentials to whoever asks: they are refused even
//! where the config names them. Loopback and private addresses are reached only where the config names the host: by the
//! address itself, by a name that no public name server answers (`localhost`, `prometheus`, `prometheus.internal`), or by
//! a network in `addresses`. Any other name may be answered by a stranger, who must not lead us inside.
//!
//! A literal is judged when the config is read, a name by whoever resolves it, each time; what was judged is what must be
//! connected to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::network::Network;

/// Services of clouds beyond the link-local ones: Alibaba's and Oracle's metadata, Azure's wire server.
const METADATA_V4: [Ipv4Addr; 3] =
    [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(192, 0, 0, 192), Ipv4Addr::new(168, 63, 129, 16)];

/// Names under which clouds answer with credentials.
const METADATA_NAMES: [&str; 4] =
    ["metadata.google.internal", "metadata.goog", "metadata.azure.internal", "instance-data.ec2.internal"];

/// Endings that the public name servers do not have: reserved (RFC 2606, 6762, 8375, ICANN's `internal`), or used inside.
const INNER_ENDINGS: [&str; 14] = [
    "localhost",
    "internal",
    "local",
    "localdomain",
    "test",
    "home.arpa",
    "lan",
    "home",
    "corp",
    "intranet",
    "private",
    "svc",
    "consul",
    "docker",
];

/// An address that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Whatever the config says.
    #[error("{0} is a link-local or metadata address; no source may be there")]
    Never(IpAddr),
    /// A name that is answered with credentials.
    #[error("`{0}` is the name of a metadata service; no source may be there")]
    Name(String),
    /// The config does not name a host inside.
    #[error(
        "{address} is a loopback or private address, and `{host}` is a name that a stranger may answer for; if it is \
         meant, name the network beside `url`: `addresses = [\"{address}\"]`"
    )]
    Inner {
        /// The address.
        address: IpAddr,
        /// The name that led there.
        host: String,
    },
}

/// Where an address lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Zone {
    Public,
    Inner,
    Never,
}

/// Whether an address may be connected to if the config names it.
///
/// # Errors
/// [`Refused::Never`] for link-local and metadata addresses, in whichever form they are written.
pub fn allowed(address: IpAddr) -> Result<(), Refused> {
    match zone(address) {
        Zone::Never => Err(Refused::Never(address)),
        Zone::Inner | Zone::Public => Ok(()),
    }
}

fn zone(address: IpAddr) -> Zone {
    match address {
        IpAddr::V4(v4) => zone_v4(v4),
        IpAddr::V6(v6) => embedded_v4(v6).map_or_else(|| zone_v6(v6), zone_v4),
    }
}

fn zone_v4(address: Ipv4Addr) -> Zone {
    let [first, second, ..] = address.octets();
    let never = address.is_link_local()
        || METADATA_V4.contains(&address)
        // Nothing of these is a host: this network, multicast, reserved, broadcast.
        || first == 0
        || first >= 224;
    let shared = first == 100 && (64..128).contains(&second);
    let benchmark = first == 198 && (18..20).contains(&second);
    let protocol = address.octets().starts_with(&[192, 0, 0]);
    if never {
        Zone::Never
    } else if address.is_loopback() || address.is_private() || shared || benchmark || protocol {
        Zone::Inner
    } else {
        Zone::Public
    }
}

fn zone_v6(address: Ipv6Addr) -> Zone {
    let [first, second, third, ..] = address.segments();
    // Amazon's and Google's.
    let metadata = matches!((first, second), (0xfd00, 0x0ec2) | (0xfd20, 0x00ce));
    // Site-local addresses are link-local's retired sisters.
    let site_local = first & 0xffc0 == 0xfec0;
    // `::` and what follows it; only `::1` is a host.
    let reserved = address.to_bits() >> 16 == 0 && !address.is_loopback();
    if address.is_unicast_link_local() || address.is_multicast() || reserved || metadata || site_local {
        Zone::Never
    } else if address.is_loopback() || address.is_unique_local() || (first, second, third) == (0x0064, 0xff9b, 1) {
        Zone::Inner
    } else {
        Zone::Public
    }
}

/// The IPv4 address that a v6 one leads to: mapped, compatible, through NAT64 (RFC 6052, 8215), 6to4 (RFC 3056), Teredo
/// (RFC 4380) or ISATAP (RFC 5214).
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [first, second, third, fourth, fifth, sixth, high, low] = address.segments();
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match (first, second, third, fourth, fifth, sixth) {
        // `::` and `::1` are addresses of their own.
        (0, 0, 0, 0, 0, 0) if high == 0 => None,
        (0x2002, ..) => Some(v4(second, third)),
        (0x2001, 0, ..) => Some(v4(!high, !low)),
        (0, 0, 0, 0, 0, 0 | 0xffff)
        | (0, 0, 0, 0, 0xffff, 0)
        | (0x0064, 0xff9b, 0, 0, 0, 0)
        | (0x0064, 0xff9b, 1, _, _, _)
        | (_, _, _, _, 0 | 0x0200, 0x5efe) => Some(v4(high, low)),
        _ => None,
    }
}

/// How far a host of the config reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    host: String,
    networks: Vec<Network>,
}

impl Reach {
    /// The host of a URL of the config, with the networks that stand beside it.
    ///
    /// # Errors
    /// [`Refused`] where the host is a literal, or a name, that is refused by itself.
    pub fn of(host: &str, networks: &[Network]) -> Result<Self, Refused> {
        let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_ascii_lowercase();
        if let Ok(literal) = host.parse::<IpAddr>() {
            allowed(literal)?;
        }
        if METADATA_NAMES.contains(&host.as_str()) {
            return Err(Refused::Name(host));
        }
        Ok(Self { host, networks: networks.to_vec() })
    }

    /// A host that may be anywhere but where nothing may be.
    ///
    /// # Errors
    /// As [`Reach::of`].
    pub fn anywhere(host: &str) -> Result<Self, Refused> {
        Self::of(host, &[Network::ALL_V4, Network::ALL_V6])
    }

    /// Whether the host may be at an address.
    ///
    /// # Errors
    /// [`Refused`] with what would do.
    pub fn permits(&self, address: IpAddr) -> Result<(), Refused> {
        match zone(address) {
            Zone::Never => Err(Refused::Never(address)),
            Zone::Public => Ok(()),
            Zone::Inner if self.is_inner() || self.networks.iter().any(|network| network.holds(address)) => Ok(()),
            Zone::Inner => Err(Refused::Inner { address, host: self.host.clone() }),
        }
    }

    /// Whether the host is named as one inside: by its address, or by a name that has no meaning outside.
    fn is_inner(&self) -> bool {
        let ends = |ending: &str| {
            self.host.strip_suffix(ending).is_some_and(|before| before.is_empty() || before.ends_with('.'))
        };
        !self.host.contains('.') || self.host.parse::<IpAddr>().is_ok() || INNER_ENDINGS.iter().any(|end| ends(end))
    }
}
