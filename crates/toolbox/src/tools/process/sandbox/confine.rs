//! Confines the thread that calls it, for ever: what it may open (Landlock), which calls of the system it may make (seccomp),
//! and how much it may use up (limits). Each holds for whatever it becomes or starts.

use super::order::Order;

/// Confines this thread as ordered.
///
/// # Errors
/// What could not be set up. Nothing may be run then: what was set up stays, and is not all.
#[cfg(target_os = "linux")]
pub fn confine(order: &Order) -> Result<(), String> {
    linux::limits(order).map_err(|error| format!("setting limits: {error}"))?;
    linux::files(order)?;
    super::syscalls::restrict(order.sockets, order.processes)
}

/// There is no such sandbox here.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn confine(_order: &Order) -> Result<(), String> {
    Err("commands are confined by Landlock and seccomp, which only Linux has".to_owned())
}

#[cfg(target_os = "linux")]
mod linux {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
        RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
    };
    use rustix::io::Result;
    use rustix::process::{Resource, Rlimit, setrlimit};

    use crate::tools::process::sandbox::order::{Grant, Order, Processes, Right};

    pub(super) fn limits(order: &Order) -> Result<()> {
        let set = |resource, most: u64| setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
        set(Resource::Core, 0)?;
        set(Resource::Fsize, 0)?;
        set(Resource::Cpu, order.limits.cpu_s)?;
        set(Resource::As, order.limits.memory)?;
        set(Resource::Nofile, order.limits.files)?;
        match order.processes {
            // It counts all processes of the user, so any number above would hang on what else runs.
            Processes::One => set(Resource::Nproc, 0),
            Processes::Threads | Processes::Children => Ok(()),
        }
    }

    pub(super) fn files(order: &Order) -> std::result::Result<(), String> {
        let told = |error: RulesetError| format!("Landlock: {error}");
        // The first version is needed; what later ones add (truncation, ports, scopes) is asked for where it is known, and
        // the filter of system calls holds it everywhere.
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(ABI::V1))
            .map_err(|error| format!("this kernel has no Landlock, or it is off: {error}"))?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(ABI::V6))
            .and_then(|ruleset| ruleset.handle_access(AccessNet::from_all(ABI::V6)))
            .and_then(|ruleset| ruleset.scope(Scope::from_all(ABI::V6)))
            .and_then(Ruleset::create)
            .map_err(told)?;
        for Grant { path, right } in &order.grants {
            let opened = PathFd::new(path).map_err(|error| format!("Landlock: `{}`: {error}", path.display()))?;
            ruleset = ruleset.add_rule(PathBeneath::new(opened, access(*right))).map_err(told)?;
        }
        let status = ruleset.restrict_self().map_err(told)?;
        match (status.ruleset, status.no_new_privs) {
            (RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced, true) => Ok(()),
            (RulesetStatus::NotEnforced, _) | (_, false) => {
                Err("Landlock: the kernel does not enforce the rules".to_owned())
            }
        }
    }

    fn access(right: Right) -> BitFlags<AccessFs> {
        match right {
            Right::Names => AccessFs::ReadDir.into(),
            Right::Content => AccessFs::ReadFile.into(),
            Right::Tree => AccessFs::ReadFile | AccessFs::ReadDir,
            Right::Run => AccessFs::ReadFile | AccessFs::Execute,
        }
    }
}
