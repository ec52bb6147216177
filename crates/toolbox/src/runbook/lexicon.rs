//! Words that on-call people use for one another: a question about a `disk` also finds `filesystem`, and `磁盘` finds both.
//!
//! A line is one meaning. A related word counts for less than the word itself (see [`crate::runbook::rank`]), so a line
//! may be generous; what it must not hold is a word that mostly means something else.

use std::collections::HashMap;

use crate::runbook::stem::stem;
use crate::runbook::words::words;

/// For each stem the stems of related words.
pub(super) struct Lexicon(HashMap<String, Vec<String>>);

impl Lexicon {
    /// Reads the lines below.
    pub fn new() -> Self {
        let mut related: HashMap<String, Vec<String>> = HashMap::new();
        for line in MEANINGS.lines() {
            let mut stems: Vec<String> = words(line).into_iter().map(|word| stem(&word.text)).collect();
            stems.sort_unstable();
            stems.dedup();
            for one in &stems {
                let others = stems.iter().filter(|other| *other != one).cloned();
                related.entry(one.clone()).or_default().extend(others);
            }
        }
        Self(related)
    }

    /// Stems of words related to the word with this stem.
    pub fn related(&self, stem: &str) -> &[String] {
        self.0.get(stem).map_or(&[], Vec::as_slice)
    }
}

const MEANINGS: &str = "\
fail failure error unsuccessful broken exception 失败 错误 报错 异常
crash crashloop restart die killed panic 崩溃 重启
down unreachable reachable unavailable available absent disappear missing offline dead 宕机
full exhausted filling capacity 已满 写满
quota limit 配额 限制
slow latency duration delay lag 变慢 很慢 延迟 缓慢
queue backlog pending 队列 积压
disk filesystem storage volume space 磁盘 硬盘 空间
memory oom heap rss 内存 泄漏
certificate cert tls ssl x509 证书
expire expiration expiry renew 过期 到期
mismatch inconsistent different differ skew 不一致
config configuration setting misconfigured 配置
deploy rollout release update upgrade 部署 发布 上线
drop discard reject lose lost 丢失 丢弃
unhealthy healthy degraded notready ready
inode file
pool connection 连接 接池
timeout deadline 超时
hpa horizontalpodautoscaler autoscaler
pvc persistentvolumeclaim volume
interface nic 网卡
clock time ntp 时钟 时间
saturate saturation overload busy exhausted 饱和 过载
flap flapping toggle
upstream dependency downstream 依赖 上游 下游
stuck hang hung frozen blocked progressing 卡住
reject refuse deny terminate abort 拒绝
send deliver push forward publish transmit
receive ingest consume
high elevated increase spike many 过高 升高
maximum maxed ceiling limit
overcommit exceed oversubscribe
complete finish done
reload reread apply
rotate renew
schedule placement unschedulable
evict preempt
conntrack tracking
raid array
member peer
sync synchronise synchronize reconcile
lookup resolve dns 解析
throttle throttling ratelimit 限流
scrape target
overwrite duplicate collision
usage utilization utilisation consumption 使用率
";
