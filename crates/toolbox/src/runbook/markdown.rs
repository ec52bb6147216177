//! A Markdown text as sections of plain text: what is searched and quoted.

use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};

use crate::runbook::document::Section;

/// What a Markdown text holds.
pub(super) struct Page {
    /// Its first heading of the first level.
    pub title: Option<String>,
    /// What stands below each heading; the first level-one heading belongs to `title`.
    pub sections: Vec<Section>,
}

/// Reads a text whose first line is line `first_line` of its file.
pub(super) fn read(text: &str, first_line: usize) -> Page {
    let mut page = Page { title: None, sections: Vec::new() };
    let mut section = Section { heading: String::new(), text: String::new(), links: String::new(), line: first_line };
    let mut heading: Option<(HeadingLevel, String)> = None;
    let (mut line, mut counted) = (first_line, 0);
    for (event, span) in Parser::new(text).into_offset_iter() {
        if let Some(passed) = text.get(counted..span.start) {
            line += passed.matches('\n').count();
            counted = span.start;
        }
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                heading = Some((level, String::new()));
                let next = Section { heading: String::new(), text: String::new(), links: String::new(), line };
                keep(&mut page.sections, std::mem::replace(&mut section, next));
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some((level, text)) = heading.take() {
                    if level == HeadingLevel::H1 && page.title.is_none() {
                        page.title = Some(text.trim().to_owned());
                    } else {
                        text.trim().clone_into(&mut section.heading);
                    }
                }
            }
            Event::Start(Tag::Link { dest_url, .. }) => push_link(&mut section.links, &dest_url),
            Event::Text(piece) | Event::Code(piece) => match &mut heading {
                Some((_, text)) => text.push_str(&piece),
                None => section.text.push_str(&piece),
            },
            Event::SoftBreak | Event::HardBreak => match &mut heading {
                Some((_, text)) => text.push(' '),
                None => section.text.push('\n'),
            },
            Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::CodeBlock) if !section.text.ends_with('\n') => {
                section.text.push('\n');
            }
            _ => {}
        }
    }
    keep(&mut page.sections, section);
    page
}

fn keep(sections: &mut Vec<Section>, mut section: Section) {
    section.text.truncate(section.text.trim_end().len());
    if !(section.text.is_empty() && section.heading.is_empty() && section.links.is_empty()) {
        sections.push(section);
    }
}

/// The words of a link's path: `/docs/debugging-out-of-order-samples` says what it is about; its host does not.
fn push_link(links: &mut String, url: &str) {
    let path = url.split_once("://").map_or(url, |(_, rest)| rest.split_once('/').map_or("", |(_, path)| path));
    links.extend(path.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }));
    links.push(' ');
}
