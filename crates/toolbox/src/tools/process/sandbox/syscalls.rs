//! Which calls of the system a confined program may make: a list of what looking takes. All others answer that the system has
//! no such call, so that a program which can do without goes on without.
//!
//! Landlock says which files may be opened. What it does not know is not on the list: changing mode, owner, times or
//! attributes of a file, signals to others, sockets beyond those ordered, mounts, clocks, tracing.

use super::order::{Processes, Sockets};

#[cfg(not(target_os = "linux"))]
pub(super) fn restrict(_sockets: Sockets, _processes: Processes) -> Result<(), String> {
    Err("only Linux has seccomp".to_owned())
}

#[cfg(target_os = "linux")]
pub(super) fn restrict(sockets: Sockets, processes: Processes) -> Result<(), String> {
    let filter = linux::filter(sockets, processes).map_err(|error| format!("seccomp: {error}"))?;
    seccompiler::apply_filter(&filter).map_err(|error| format!("seccomp: {error}"))
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;

    use libc::c_long;
    use seccompiler::{
        BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule, TargetArch,
    };

    use super::{Processes, Sockets};

    type Rules = BTreeMap<i64, Vec<SeccompRule>>;

    pub(super) fn filter(sockets: Sockets, processes: Processes) -> Result<BpfProgram, BackendError> {
        let mut rules: Rules = LOOKING.iter().chain(OF_THIS_MACHINE).map(|number| (*number, Vec::new())).collect();
        for (number, argument) in OPENING {
            rules.insert(*number, vec![none_of(*argument, WRITING)?]);
        }
        // A limit is read with a null pointer for the new one.
        rules.insert(libc::SYS_prlimit64, vec![equal(2, SeccompCmpArgLen::Qword, 0)?]);
        let families: &[libc::c_int] = match sockets {
            Sockets::None => &[],
            Sockets::Names => &[libc::AF_UNIX],
            Sockets::Netlink => &[libc::AF_UNIX, libc::AF_NETLINK],
        };
        if !families.is_empty() {
            let each = families.iter().map(|family| equal(0, SeccompCmpArgLen::Dword, bits(*family)));
            rules.insert(libc::SYS_socket, each.collect::<Result<_, _>>()?);
            rules.extend(TALKING.iter().map(|number| (*number, Vec::new())));
        }
        // `clone3` keeps its flags behind a pointer, where no filter sees them; the C library falls back to `clone`.
        match processes {
            Processes::One => {}
            Processes::Threads => {
                rules.insert(libc::SYS_clone, vec![all_of(0, bits(libc::CLONE_THREAD))?]);
            }
            Processes::Children => {
                rules.insert(libc::SYS_clone, Vec::new());
                rules.extend(BEARING.iter().map(|number| (*number, Vec::new())));
            }
        }
        let arch = TargetArch::try_from(std::env::consts::ARCH)?;
        let missing = SeccompAction::Errno(u32::try_from(libc::ENOSYS).unwrap_or(38));
        SeccompFilter::new(rules, missing, SeccompAction::Allow, arch)?.try_into()
    }

    fn bits(flags: libc::c_int) -> u64 {
        u64::try_from(flags).unwrap_or(u64::MAX)
    }

    fn rule(argument: u8, length: SeccompCmpArgLen, op: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
        SeccompRule::new(vec![SeccompCondition::new(argument, length, op, value)?])
    }

    fn equal(argument: u8, length: SeccompCmpArgLen, value: u64) -> Result<SeccompRule, BackendError> {
        rule(argument, length, SeccompCmpOp::Eq, value)
    }

    fn none_of(argument: u8, mask: u64) -> Result<SeccompRule, BackendError> {
        rule(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask), 0)
    }

    fn all_of(argument: u8, mask: u64) -> Result<SeccompRule, BackendError> {
        rule(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask), mask)
    }

    /// The flags of an open that could change something. They are small positive numbers on every machine.
    const WRITING: u64 = (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC | libc::O_APPEND) as u64;

    /// Calls that open, and which argument holds the flags.
    #[cfg(target_arch = "x86_64")]
    const OPENING: &[(c_long, u8)] = &[(libc::SYS_openat, 2), (libc::SYS_open, 1)];
    #[cfg(not(target_arch = "x86_64"))]
    const OPENING: &[(c_long, u8)] = &[(libc::SYS_openat, 2)];

    const LOOKING: &[c_long] = &[
        // Files.
        libc::SYS_read,
        libc::SYS_readv,
        libc::SYS_pread64,
        libc::SYS_preadv,
        libc::SYS_preadv2,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_close,
        libc::SYS_close_range,
        libc::SYS_lseek,
        libc::SYS_fstat,
        libc::SYS_newfstatat,
        libc::SYS_statx,
        libc::SYS_statfs,
        libc::SYS_fstatfs,
        libc::SYS_faccessat,
        libc::SYS_faccessat2,
        libc::SYS_readlinkat,
        libc::SYS_getdents64,
        libc::SYS_getcwd,
        libc::SYS_chdir,
        libc::SYS_fchdir,
        libc::SYS_fcntl,
        libc::SYS_ioctl,
        libc::SYS_dup,
        libc::SYS_dup3,
        libc::SYS_pipe2,
        libc::SYS_fadvise64,
        libc::SYS_readahead,
        libc::SYS_getxattr,
        libc::SYS_lgetxattr,
        libc::SYS_fgetxattr,
        libc::SYS_listxattr,
        libc::SYS_llistxattr,
        libc::SYS_flistxattr,
        libc::SYS_umask,
        // Memory.
        libc::SYS_brk,
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        libc::SYS_mincore,
        libc::SYS_membarrier,
        libc::SYS_get_mempolicy,
        // Waiting.
        libc::SYS_futex,
        libc::SYS_ppoll,
        libc::SYS_pselect6,
        libc::SYS_epoll_create1,
        libc::SYS_epoll_ctl,
        libc::SYS_epoll_pwait,
        libc::SYS_eventfd2,
        libc::SYS_nanosleep,
        libc::SYS_clock_nanosleep,
        libc::SYS_sched_yield,
        libc::SYS_restart_syscall,
        // What time it is, who and where one is.
        libc::SYS_clock_gettime,
        libc::SYS_clock_getres,
        libc::SYS_gettimeofday,
        libc::SYS_times,
        libc::SYS_getrusage,
        libc::SYS_sysinfo,
        libc::SYS_uname,
        libc::SYS_getcpu,
        libc::SYS_getpid,
        libc::SYS_getppid,
        libc::SYS_gettid,
        libc::SYS_getpgid,
        libc::SYS_getsid,
        libc::SYS_getuid,
        libc::SYS_geteuid,
        libc::SYS_getgid,
        libc::SYS_getegid,
        libc::SYS_getresuid,
        libc::SYS_getresgid,
        libc::SYS_getgroups,
        libc::SYS_getpriority,
        libc::SYS_ioprio_get,
        libc::SYS_sched_getaffinity,
        libc::SYS_sched_getparam,
        libc::SYS_sched_getscheduler,
        libc::SYS_sched_get_priority_max,
        libc::SYS_sched_get_priority_min,
        libc::SYS_getrandom,
        // Its own signals, threads and end.
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_set_tid_address,
        libc::SYS_set_robust_list,
        libc::SYS_get_robust_list,
        libc::SYS_rseq,
        libc::SYS_setitimer,
        libc::SYS_prctl,
        // A program may confine itself further: `file` does.
        libc::SYS_seccomp,
        libc::SYS_exit,
        libc::SYS_exit_group,
        // Landlock says what may be run.
        libc::SYS_execve,
    ];

    /// Older forms of the same calls.
    #[cfg(target_arch = "x86_64")]
    const OF_THIS_MACHINE: &[c_long] = &[
        libc::SYS_arch_prctl,
        libc::SYS_stat,
        libc::SYS_lstat,
        libc::SYS_access,
        libc::SYS_readlink,
        libc::SYS_getdents,
        libc::SYS_dup2,
        libc::SYS_pipe,
        libc::SYS_poll,
        libc::SYS_select,
        libc::SYS_epoll_create,
        libc::SYS_epoll_wait,
        libc::SYS_time,
        libc::SYS_getpgrp,
        libc::SYS_getrlimit,
        libc::SYS_alarm,
    ];
    #[cfg(not(target_arch = "x86_64"))]
    const OF_THIS_MACHINE: &[c_long] = &[libc::SYS_getrlimit];

    /// Through a socket that may be made.
    const TALKING: &[c_long] = &[
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_sendto,
        libc::SYS_sendmsg,
        libc::SYS_recvfrom,
        libc::SYS_recvmsg,
        libc::SYS_getsockname,
        libc::SYS_getpeername,
        libc::SYS_getsockopt,
        libc::SYS_setsockopt,
        libc::SYS_shutdown,
    ];

    /// Of whoever has children.
    #[cfg(target_arch = "x86_64")]
    const BEARING: &[c_long] = &[libc::SYS_wait4, libc::SYS_waitid, libc::SYS_setsid, libc::SYS_fork, libc::SYS_vfork];
    #[cfg(not(target_arch = "x86_64"))]
    const BEARING: &[c_long] = &[libc::SYS_wait4, libc::SYS_waitid, libc::SYS_setsid];
}
