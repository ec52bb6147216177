//! Networks that the config names: `10.0.0.0/8`, `10.1.2.3`, `fd00::/8`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A network, or one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

/// A text that is no network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no network; write an address or a network, `10.1.2.3`, `10.0.0.0/8`, `fd00::/8`")]
pub struct NotANetwork(String);

impl Network {
    /// Every IPv4 address.
    pub const ALL_V4: Self = Self { address: IpAddr::V4(Ipv4Addr::UNSPECIFIED), bits: 0 };
    /// Every IPv6 address.
    pub const ALL_V6: Self = Self { address: IpAddr::V6(Ipv6Addr::UNSPECIFIED), bits: 0 };

    /// Whether an address lies in it.
    #[must_use]
    pub fn holds(&self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4() && head(self.address, self.bits) == head(address, self.bits)
    }
}

/// The first bits of an address.
fn head(address: IpAddr, bits: u8) -> u128 {
    let (whole, width) = match address {
        IpAddr::V4(v4) => (u128::from(v4.to_bits()), 32),
        IpAddr::V6(v6) => (Ipv6Addr::to_bits(v6), 128),
    };
    whole.checked_shr(width - u32::from(bits).min(width)).unwrap_or(0)
}

impl FromStr for Network {
    type Err = NotANetwork;

    fn from_str(text: &str) -> Result<Self, NotANetwork> {
        let refused = || NotANetwork(text.chars().take(80).collect());
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| refused())?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(width), str::parse).map_err(|_| refused())?;
        if bits > width { Err(refused()) } else { Ok(Self { address, bits }) }
    }
}

impl TryFrom<String> for Network {
    type Error = NotANetwork;

    fn try_from(text: String) -> Result<Self, NotANetwork> {
        text.parse()
    }
}

impl From<Network> for String {
    fn from(network: Network) -> Self {
        format!("{}/{}", network.address, network.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::Network;

    #[test]
    fn a_network_holds_what_begins_like_it() {
        let holds = |network: &str, address: &str| network.parse::<Network>().unwrap().holds(address.parse().unwrap());
        for (network, inside, outside) in [
            ("10.0.0.0/8", "10.255.1.2", "11.0.0.1"),
            ("10.1.2.3", "10.1.2.3", "10.1.2.4"),
            ("172.16.0.0/12", "172.31.0.1", "172.32.0.1"),
            ("fd00::/8", "fd12::1", "fc00::1"),
            ("::1", "::1", "::2"),
        ] {
            assert!(holds(network, inside) && !holds(network, outside), "{network}");
        }
        assert!(holds("0.0.0.0/0", "8.8.8.8") && !holds("0.0.0.0/0", "::1"));
        for wrong in ["", "10.0.0.0/33", "10.0.0/8", "fd00::/129", "10.0.0.0/-1", "localhost", "10.0.0.0/8/8"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }
}
