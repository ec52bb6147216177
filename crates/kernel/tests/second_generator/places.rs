//! Where secrets stand in what is read during an incident: logs, configuration, dumps, manifests, histories.
//!
//! A place takes a secret that is known there for what it is, and says `None` for one that would not be.

use serde_json::{Value, json};

use crate::draw::{Draw, HEX};
use crate::kinds::{Known, Planted};

/// One place: its name in the table, and how it is written.
pub type Place = (&'static str, fn(&Planted, &mut Draw) -> Option<String>);

/// All of them.
pub const PLACES: &[Place] = &[
    ("log line", log_line),
    ("logfmt", logfmt),
    ("json log", json_log),
    ("env dump", env_dump),
    ("ini", ini),
    ("yaml", yaml),
    ("json config", json_config),
    ("xml", xml),
    ("url query", url_query),
    ("header", header),
    ("curl", curl),
    ("shell history", shell_history),
    ("stack trace", stack_trace),
    ("k8s manifest", manifest),
    ("sql", sql),
    ("docker inspect", inspect),
    ("ci log", ci_log),
    ("process list", process_list),
];

fn time(draw: &mut Draw) -> String {
    format!("2026-11-30T02:{:02}:{:02}.{:03}Z", draw.below(60), draw.below(60), draw.below(1000))
}

fn snake(planted: &Planted) -> String {
    planted.name.to_lowercase()
}

fn camel(planted: &Planted) -> String {
    let mut out = String::new();
    for (at, part) in snake(planted).split('_').enumerate() {
        let (head, tail) = part.split_at(1);
        out += &if at == 0 { part.to_owned() } else { head.to_uppercase() + tail };
    }
    out
}

/// The name as a configuration writes it.
pub fn in_config(planted: &Planted, draw: &mut Draw) -> String {
    match draw.below(4) {
        0 => planted.name.clone(),
        1 => camel(planted),
        2 => snake(planted).replace('_', "-"),
        _ => snake(planted),
    }
}

fn with_name(planted: &Planted) -> Option<&Planted> {
    (planted.known != Known::InHeader).then_some(planted)
}

fn log_line(planted: &Planted, draw: &mut Draw) -> Option<String> {
    let (time, value) = (time(draw), &planted.text);
    Some(match (planted.known, draw.below(3)) {
        (Known::Alone, 0) => format!("{time} ERROR checkout upstream refused {value} after 3 attempts"),
        (Known::Alone, 1) => format!("{time} DEBUG [worker-4] c.s.Client - using credential '{value}' for shop-prod"),
        (Known::Alone, _) => format!("Nov 30 02:14:07 web-2 checkout[311]: retry with {value}"),
        (Known::ByName, 0) => format!("{time} DEBUG loaded {} = {value} from /etc/checkout/env", planted.name),
        (Known::ByName, _) => format!("{time} WARN  checkout {}: {value} is about to expire", snake(planted)),
        (Known::InHeader, _) => format!("{time} TRACE client > Authorization: {value}"),
    })
}

fn logfmt(planted: &Planted, draw: &mut Draw) -> Option<String> {
    let planted = with_name(planted)?;
    let quoted = planted.text.contains([' ', '"', '=']);
    let value = if quoted { json!(planted.text).to_string() } else { planted.text.clone() };
    Some(format!("ts={} level=debug msg=\"client ready\" {}={value} attempt=2", time(draw), snake(planted)))
}

fn json_log(planted: &Planted, draw: &mut Draw) -> Option<String> {
    let mut fields = json!({ "time": time(draw), "level": "debug", "msg": "request", "status": 401 });
    match planted.known {
        Known::InHeader => fields["headers"] = json!({ "host": "api.example", "authorization": planted.text }),
        Known::ByName => fields[in_config(planted, draw)] = json!(planted.text),
        Known::Alone => fields["msg"] = json!(format!("could not use {}", planted.text)),
    }
    Some(fields.to_string())
}

fn env_dump(planted: &Planted, _: &mut Draw) -> Option<String> {
    let planted = with_name(planted)?;
    Some(format!("PATH=/usr/local/bin:/usr/bin\nHOME=/srv\n{}={}\nLANG=C.UTF-8\nPORT=8080", planted.name, planted.text))
}

fn ini(planted: &Planted, draw: &mut Draw) -> Option<String> {
    let planted = with_name(planted)?;
    let name = snake(planted);
    Some(match draw.below(3) {
        0 => format!("[default]\nregion = eu-west-1\n{name} = {}\noutput = json", planted.text),
        1 => format!("[client]\n{name}={}\ntimeout=30", planted.text),
        _ => format!("[client]\n{name} = '{}'\ntimeout = 30", planted.text),
    })
}

fn yaml(planted: &Planted, draw: &mut Draw) -> Option<String> {
    let planted = with_name(planted)?;
    let name = in_config(planted, draw);
    let quoted = planted.text.contains(['{', '\\', '"', ' ', '#', '*', '!', '@']) || draw.below(2) == 0;
    let value = if quoted { format!("'{}'", planted.text) } else { planted.text.clone() };
    Some(format!("client:\n  region: eu-west-1\n  {name}: {value}\n  timeout: 30s"))
}

fn json_config(planted: &Planted, draw: &mut Draw) -> Option<String> {
    let value = match planted.known {
        Known::InHeader => json!({ "request": { "headers": { "Accept": "*/*", "Authorization": planted.text } } }),
        _ => json!({ "client": { "region": "eu-west-1", in_config(planted, draw): planted.text, "retries": 3 } }),
    };
    Some(if draw.below(2) == 0 { value.to_string() } else { serde_json::to_string_pretty(&value).unwrap() })
}

fn xml(planted: &Planted, draw: &mut Draw) -> Option<String> {
    let planted = with_name(planted)?;
    if planted.text.contains(['&', '<']) {
        return None;
    }
    let name = camel(planted);
    Some(match draw.below(2) {
        0 => format!("<client>\n  <region>eu-west-1</region>\n  <{name}>{}</{name}>\n</client>", planted.text),
        _ => format!("<property name=\"{name}\" value=\"{}\"/>", planted.text.replace('"', "&quot;")),
    })
}

fn url_query(planted: &Planted, draw: &mut Draw) -> Option<String> {
    let planted = with_name(planted)?;
    if !planted.text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte)) {
        return None;
    }
    let name = snake(planted);
    Some(format!(
        "10.0.3.14 - - [30/Nov/2026:02:14:07 +0000] \"GET /api/v1/orders?page={}&{name}={}&limit=50 HTTP/1.1\" 200 512",
        draw.below(90),
        planted.text
    ))
}

fn header(planted: &Planted, draw: &mut Draw) -> Option<String> {
    let name = match planted.known {
        Known::InHeader => "Authorization".to_owned(),
        Known::Alone => (*draw.one(&["X-Api-Key", "X-Auth-Token", "X-Forwarded-Auth"])).to_owned(),
        Known::ByName => format!("X-{}", snake(planted).replace('_', "-")),
    };
    let mark = *draw.one(&["> ", "< ", ""]);
    Some(format!(
        "{mark}GET /v1/things HTTP/1.1\n{mark}Host: api.example\n{mark}{name}: {}\n{mark}Accept: */*",
        planted.text
    ))
}

fn curl(planted: &Planted, draw: &mut Draw) -> Option<String> {
    let value = &planted.text;
    Some(match planted.known {
        Known::InHeader => format!("curl -sS -H 'Authorization: {value}' https://api.example/v1/things"),
        Known::ByName => format!("curl -sS --data '{}={value}' https://api.example/v1/things", snake(planted)),
        Known::Alone if value.contains("://") && draw.below(2) == 0 => {
            format!("curl -sS -X POST {value} -d @body.json")
        }
        Known::Alone => format!("curl -sS -H \"X-Api-Key: {value}\" https://api.example/v1/things"),
    })
}

fn shell_history(planted: &Planted, draw: &mut Draw) -> Option<String> {
    let planted = with_name(planted)?;
    let value = &planted.text;
    Some(match draw.below(3) {
        0 => format!("  501  cd /srv/checkout\n  502  export {}='{value}'\n  503  ./deploy.sh prod", planted.name),
        1 => format!(": 1764468000:0;{}='{value}' ./deploy.sh prod", planted.name),
        _ => format!("  88  deploy --env prod --{} '{value}' --wait", snake(planted).replace('_', "-")),
    })
}

fn stack_trace(planted: &Planted, draw: &mut Draw) -> Option<String> {
    let planted = with_name(planted)?;
    let said = match planted.known {
        Known::Alone => format!("cannot authenticate with {}", planted.text),
        _ => format!("cannot authenticate: {{user=app, {}={}}}", camel(planted), planted.text),
    };
    Some(match draw.below(2) {
        0 => format!(
            "java.lang.IllegalStateException: {said}\n\tat com.shop.Client.open(Client.java:118)\n\tat com.shop.Main.main(Main.java:20)"
        ),
        _ => format!(
            "Traceback (most recent call last):\n  File \"/srv/checkout/client.py\", line 57, in open\n    raise AuthError(why)\nclient.AuthError: {said}"
        ),
    })
}

fn manifest(planted: &Planted, draw: &mut Draw) -> Option<String> {
    let planted = with_name(planted)?;
    let value = if planted.text.contains(['{', '\\', '"', ' ', '#', '*', '!', '@', ':']) {
        format!("'{}'", planted.text)
    } else {
        planted.text.clone()
    };
    Some(match draw.below(2) {
        0 => format!(
            "containers:\n- name: checkout\n  env:\n  - name: PORT\n    value: \"8080\"\n  - name: {}\n    value: {value}\n  image: checkout:2026.11",
            planted.name
        ),
        _ => format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: checkout\nstringData:\n  {}: {value}\ntype: Opaque",
            in_config(planted, draw)
        ),
    })
}

fn sql(planted: &Planted, draw: &mut Draw) -> Option<String> {
    let planted = with_name(planted)?;
    let (name, value) = (snake(planted), &planted.text);
    Some(match (planted.name.contains("PASSW"), draw.below(2)) {
        (true, 0) => format!("ALTER USER app WITH PASSWORD '{value}';"),
        (true, _) => format!("2026-11-30 02:14:07 UTC [311] LOG:  statement: CREATE ROLE app LOGIN PASSWORD '{value}'"),
        _ => format!("UPDATE settings SET {name} = '{value}' WHERE tenant = 41;"),
    })
}

fn inspect(planted: &Planted, draw: &mut Draw) -> Option<String> {
    let planted = with_name(planted)?;
    let value: Value = json!([{
        "Id": draw.chars(64, HEX),
        "Config": { "Hostname": draw.chars(12, HEX), "Env": ["PORT=8080", format!("{}={}", planted.name, planted.text), "LANG=C"] },
    }]);
    Some(serde_json::to_string_pretty(&value).unwrap())
}

fn ci_log(planted: &Planted, draw: &mut Draw) -> Option<String> {
    let planted = with_name(planted)?;
    let (name, value) = (&planted.name, &planted.text);
    Some(match draw.below(3) {
        0 => format!("Run ./deploy.sh\n  env:\n    {name}: {value}\n##[debug]Evaluating condition for step"),
        1 => format!("+ export {name}={value}\n+ ./deploy.sh prod\nBUILD FAILED"),
        _ => format!("Step 5/9 : ENV {name}={value}\n ---> Running in {}", draw.chars(12, HEX)),
    })
}

fn process_list(planted: &Planted, draw: &mut Draw) -> Option<String> {
    let planted = with_name(planted)?;
    if planted.text.contains(' ') {
        return None;
    }
    let pid = draw.between(100, 30_000);
    let flag = snake(planted).replace('_', "-");
    Some(match draw.below(2) {
        0 => format!(
            "app   {pid}  0.3  1.2 741232 98112 ?  Sl  01:58  0:07 /srv/checkout --{flag}={} --port 8080",
            planted.text
        ),
        _ => format!(
            "app   {pid}  0.3  1.2 741232 98112 ?  Sl  01:58  0:07 /srv/checkout --{flag} {} --port 8080",
            planted.text
        ),
    })
}
