//! The certificates of the shop: an authority of its own, and what it issues to payments. Both live as long as the run.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose, date_time_ymd,
};

/// An authority that issues certificates for 127.0.0.1.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate could not be made.
#[derive(Debug, thiserror::Error)]
#[error("making a certificate for the shop")]
pub struct CertificateError(#[from] rcgen::Error);

const DAY: Duration = Duration::from_hours(24);

impl Authority {
    /// A new authority, valid for a year.
    ///
    /// # Errors
    /// [`CertificateError`] where no key can be made.
    pub fn new() -> Result<Self, CertificateError> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name.push(DnType::CommonName, "Shop internal CA");
        valid(&mut params, DAY * 365);
        Ok(Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate()?)? })
    }

    /// Its own certificate, as PEM: what clients trust.
    #[must_use]
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// A certificate and its key in one PEM text, valid from yesterday until `left` from now.
    ///
    /// # Errors
    /// [`CertificateError`] where no key can be made.
    pub fn issue(&self, name: &str, left: Duration) -> Result<String, CertificateError> {
        let names = [name.to_owned(), "localhost".to_owned(), "127.0.0.1".to_owned()];
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name.push(DnType::CommonName, name);
        valid(&mut params, left);
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(format!("{}{}", certificate.pem(), key.serialize_pem()))
    }
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

fn valid(params: &mut CertificateParams, left: Duration) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let epoch = date_time_ymd(1970, 1, 1);
    params.not_before = epoch + now.saturating_sub(DAY);
    params.not_after = epoch + now + left;
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;
    use tokio_rustls::rustls::pki_types::CertificateDer;
    use tokio_rustls::rustls::pki_types::pem::PemObject;

    use crate::demo::part::client::expiry_of;

    use super::Authority;

    #[test]
    fn a_certificate_expires_when_it_was_said_to() {
        let pem = Authority::new().unwrap().issue("payments", Duration::from_hours(2)).unwrap();
        let leaf = CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
        let left = expiry_of(&leaf).unwrap().duration_since(Timestamp::now()).as_secs();
        assert!((7_190..=7_200).contains(&left), "{left}");
        assert!(pem.contains("PRIVATE KEY"));
    }
}
