//! The resolver of the clients: what it has judged is what they connect to.

use std::net::{SocketAddr, ToSocketAddrs};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::catalog::reach::Reach;

/// Resolves names as the system does, and refuses a name if any of its addresses is refused.
#[derive(Debug, Clone)]
pub(super) struct CheckedResolver(pub(super) Reach);

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (host, reach) = (name.as_str().to_owned(), self.0.clone());
        Box::pin(async move {
            let found = tokio::task::spawn_blocking(move || (host.as_str(), 0).to_socket_addrs()).await??;
            let addresses: Vec<SocketAddr> = found.collect();
            for address in &addresses {
                reach.permits(address.ip())?;
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
