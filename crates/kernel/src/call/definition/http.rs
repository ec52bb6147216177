//! `[run.http]`: a read or a write over HTTP that an operator adds without Rust.
//!
//! A write says what is looked at before it (`preview`) and how one can tell afterwards that it took effect (`probe`), or it
//! does not load. The source comes from the config; path and query are fixed text with placeholders. A placeholder in the path fills
//! one whole segment and has a type whose values can be neither empty nor `..`, so a call can't leave the path.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::domain::decision::Risk;
use crate::domain::name::SourceName;
use crate::domain::tool::{ArgSpec, ArgType, HttpExpect, HttpMethod, HttpProbe, HttpRun};

use super::document::{Document, Faults, Placed, Places};
use super::{LoadContext, did_you_mean, nearest};

const MAX_PATH: usize = 512;

/// Reads the `http` table of `run`.
pub(super) fn read(
    run: &mut Document<'_>,
    args: &BTreeMap<String, Placed<ArgSpec>>,
    context: &LoadContext<'_>,
    faults: &mut Faults<'_>,
) -> Option<HttpRun> {
    let places = run.places_within("http");
    let http = run.take::<HttpRun>("http", faults)?.value;
    let template = Template { args, faults };
    template.check(&http, &places, context);
    Some(http)
}

/// Whether a request has what its risk needs, and nothing of the other.
pub(super) fn fits_risk(http: &HttpRun, risk: Risk, at: usize, faults: &mut Faults<'_>) {
    if risk == Risk::Read {
        if matches!(http.method, HttpMethod::Put | HttpMethod::Delete) {
            faults.at(at, format!("{} changes something: a read is GET, or POST with a form", http.method.as_str()));
        }
        if !http.body.is_empty() || http.preview.is_some() || http.probe.is_some() {
            faults.at(at, "`body`, `preview` and `probe` belong to a write");
        }
        return;
    }
    if http.method == HttpMethod::Get {
        faults.at(at, "a write names its `method`: POST, PUT or DELETE");
    }
    if !http.pointer.is_empty() {
        faults.at(at, "`pointer` belongs to a read");
    }
    match &http.preview {
        None => faults.at(at, "a write needs a `[run.http.preview]`: a GET, and in `bound` what the plan is bound to"),
        Some(look) if look.bound.is_empty() => {
            faults.at(at, "`preview.bound` is empty: a plan would be bound to nothing");
        }
        Some(_) => {}
    }
    match &http.probe {
        None => faults.at(at, "a write needs a `[run.http.probe]`: a GET that tells afterwards whether it took effect"),
        Some(probe) => expectation(probe, at, faults),
    }
}

fn expectation(probe: &HttpProbe, at: usize, faults: &mut Faults<'_>) {
    match (probe.is, &probe.value) {
        (HttpExpect::Eq | HttpExpect::Contains, Some(_)) | (HttpExpect::Present | HttpExpect::Absent, None) => {}
        (HttpExpect::Eq | HttpExpect::Contains, None) => faults.at(at, "`probe`: `eq` and `contains` need a `value`"),
        (HttpExpect::Present | HttpExpect::Absent, Some(_)) => {
            faults.at(at, "`probe`: `present` and `absent` take no `value`");
        }
    }
}

struct Template<'t, 'f> {
    args: &'t BTreeMap<String, Placed<ArgSpec>>,
    faults: &'t mut Faults<'f>,
}

impl Template<'_, '_> {
    fn check(mut self, http: &HttpRun, places: &Places, context: &LoadContext<'_>) {
        if !context.http_sources.contains(&http.source) {
            let near = nearest(http.source.as_str(), context.http_sources.iter().map(SourceName::as_str));
            let message = format!("there is no `[http.{}]` in the config{}", http.source, did_you_mean(&near));
            self.faults.at(places.at("source"), message);
        }
        self.request(&http.path, &http.query, (places.at("path"), places.at("query")));
        self.pointer("pointer", &http.pointer, places.at("pointer"));
        for (field, value) in &http.body {
            self.value(&format!("`body.{field}`"), value, places.at("body"));
        }
        if let Some(look) = &http.preview {
            let at = places.at("preview");
            self.request(&look.path, &look.query, (at, at));
            for (name, pointer) in look.bound.iter().chain(&look.shown) {
                self.pointer(name, pointer, at);
            }
        }
        if let Some(probe) = &http.probe {
            let at = places.at("probe");
            self.request(&probe.path, &probe.query, (at, at));
            self.pointer("at", &probe.at, at);
            if let Some(value) = &probe.value {
                self.value("`probe.value`", value, at);
            }
        }
    }

    fn request(&mut self, path: &str, query: &BTreeMap<String, String>, (path_at, query_at): (usize, usize)) {
        self.path(path, path_at);
        for (parameter, value) in query {
            if let Err(message) = self.placeholders(value) {
                self.faults.at(query_at, format!("query parameter `{parameter}`: {message}"));
            }
        }
    }

    fn pointer(&mut self, name: &str, pointer: &str, at: usize) {
        if !pointer.is_empty() && !pointer.starts_with('/') {
            self.faults.at(at, format!("`{name}` is `{pointer}`; a JSON pointer begins with `/`"));
        }
    }

    /// A text that holds a placeholder is that placeholder alone, so that nothing is built by joining texts.
    fn value(&mut self, what: &str, value: &Value, at: usize) {
        match value {
            Value::String(text) if text.contains(['{', '}']) => {
                let name = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
                match name.filter(|name| !name.contains(['{', '}'])) {
                    None => self.faults.at(at, format!("{what}: a placeholder fills the whole text")),
                    Some(name) if !self.args.contains_key(name) => {
                        let message = self.no_such(name);
                        self.faults.at(at, format!("{what}: {message}"));
                    }
                    Some(_) => {}
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.value(what, item, at);
                }
            }
            Value::Object(fields) => {
                for field in fields.values() {
                    self.value(what, field, at);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn path(&mut self, path: &str, at: usize) {
        let plain = |c: char| c.is_ascii_alphanumeric() || "/-._~{}:@!$'()*+,;=%".contains(c);
        if path.len() > MAX_PATH || !path.starts_with('/') || !path.chars().all(plain) {
            let message =
                "`path` must begin with `/` and be a URL path of at most 512 characters; parameters belong in `query`";
            self.faults.at(at, message);
            return;
        }
        for segment in path.split('/').skip(1) {
            if segment == "." || segment == ".." {
                self.faults.at(at, "`path` may not hold `.` or `..`");
            }
            if !segment.contains(['{', '}']) {
                continue;
            }
            let name = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            match name.filter(|name| !name.contains(['{', '}'])) {
                Some(name) => self.segment(name, at),
                None => self.faults.at(at, format!("`{segment}`: a placeholder in `path` fills one whole segment")),
            }
        }
    }

    fn segment(&mut self, name: &str, at: usize) {
        let Some(arg) = self.args.get(name) else {
            let message = self.no_such(name);
            self.faults.at(at, format!("`path`: {message}"));
            return;
        };
        if !arg.value.required && arg.value.default.is_none() {
            self.faults.at(at, format!("`path`: `{{{name}}}` must be `required` or have a `default`"));
        }
        match arg.value.kind {
            ArgType::Service
            | ArgType::Label
            | ArgType::Int
            | ArgType::Bool
            | ArgType::Enum
            | ArgType::Evidence
            | ArgType::Time
            | ArgType::Duration => {}
            ArgType::Path | ArgType::Regex | ArgType::Text | ArgType::Query | ArgType::Words => {
                let message =
                    "has a type that can't stand in `path`; use `label`, `enum`, `int` or `service`, or `query`";
                self.faults.at(at, format!("`path`: `{{{name}}}` {message}"));
            }
        }
    }

    fn no_such(&self, name: &str) -> String {
        let near = nearest(name, self.args.keys().map(String::as_str));
        format!("`{{{name}}}` names no argument{}", did_you_mean(&near))
    }

    fn placeholders(&self, text: &str) -> Result<(), String> {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once('{') {
            let Some((name, end)) = after.split_once('}') else {
                return Err("a `{` without its `}`".to_owned());
            };
            if !self.args.contains_key(name) {
                return Err(self.no_such(name));
            }
            rest = end;
        }
        Ok(())
    }
}
