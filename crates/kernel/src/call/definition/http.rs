//! `[run.http]`: a read over HTTP that an operator adds without Rust.
//!
//! The source comes from the config; path and query are fixed text with placeholders. A placeholder in the path fills
//! one whole segment and has a type whose values can be neither empty nor `..`, so a call can't leave the path.

use std::collections::BTreeMap;

use crate::domain::name::SourceName;
use crate::domain::tool::{ArgSpec, ArgType, HttpRun};

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
        self.path(&http.path, places.at("path"));
        for (parameter, value) in &http.query {
            if let Err(message) = self.placeholders(value) {
                self.faults.at(places.at("query"), format!("query parameter `{parameter}`: {message}"));
            }
        }
        if !http.pointer.is_empty() && !http.pointer.starts_with('/') {
            let message = format!("`pointer` is `{}`; a JSON pointer begins with `/`", http.pointer);
            self.faults.at(places.at("pointer"), message);
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
            ArgType::Path | ArgType::Regex | ArgType::Text | ArgType::Query => {
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
