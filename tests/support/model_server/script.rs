//! What the scripted model says: turns, and the ways in which a turn goes wrong.

use std::time::Duration;

use axum::body::Bytes;
use serde::Deserialize;
use serde_json::Value;

/// The shape of an API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    OpenAi,
    Anthropic,
}

/// The turns and who gets which.
#[derive(Debug, Clone)]
pub struct Script {
    pub turns: Vec<Turn>,
    pub pick: Pick,
}

/// Which turn answers a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// The next one, for one conversation at a time. Requests are kept for [`super::ModelServer::requests`].
    InOrder,
    /// The one after as many as the request holds, for any number of conversations at once; the last one for ever.
    ByTurn,
}

/// What is asked of the requests beyond their form.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// Texts that must not stand in any request.
    pub secrets: Vec<String>,
    pub history: History,
}

/// What may change of what was said before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum History {
    /// Nothing: messages are appended only.
    #[default]
    Fixed,
    /// Old tool results may become shorter.
    MayShrink,
    /// Requests are not compared: there are many conversations.
    Unwatched,
}

/// How a whole turn ends, in no one's words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// Calls where there are calls, else done.
    #[default]
    Natural,
    MaxTokens,
    Refusal,
    /// Anthropic only.
    Pause,
    /// Anthropic only.
    ContextWindow,
    /// In the provider's words.
    Raw(String),
}

/// How the stream ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    #[default]
    Whole,
    /// The connection breaks in the middle of the last call's arguments.
    CutInCall,
    /// The stream ends cleanly, everything said but the finish.
    NoFinish,
    /// Nothing more comes after the text.
    Stall,
    /// A line of so many bytes comes after the text.
    HugeLine(usize),
    /// An error event comes after the text.
    ErrorEvent,
}

/// A call.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Call {
    pub id: String,
    pub name: String,
    /// An object, or the raw text that the model wrote.
    pub arguments: Value,
}

impl Call {
    pub fn new(id: &str, name: &str, arguments: Value) -> Self {
        Self { id: id.to_owned(), name: name.to_owned(), arguments }
    }

    pub fn arguments_text(&self) -> String {
        self.arguments.as_str().map_or_else(|| self.arguments.to_string(), str::to_owned)
    }
}

/// An answer with a status that says no.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Refusal {
    pub status: u16,
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    #[serde(default)]
    pub body: String,
}

/// One turn of the model.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Turn {
    /// Blocks of thinking, before the text. Only the Messages API sends them.
    pub thinking: Vec<Value>,
    /// The text, in the pieces in which it is sent.
    pub text: Vec<String>,
    pub calls: Vec<Call>,
    pub finish: Finish,
    pub ending: Ending,
    pub refusal: Option<Refusal>,
    /// How long the model thinks before the head of its answer.
    #[serde(skip)]
    pub delay: Duration,
}

impl Turn {
    /// Says something, in these pieces.
    pub fn text<const N: usize>(pieces: [&str; N]) -> Self {
        Self { text: pieces.map(str::to_owned).to_vec(), ..Self::default() }
    }

    /// Calls tools.
    pub fn calls<const N: usize>(calls: [(&str, &str, Value); N]) -> Self {
        let calls = calls.map(|(id, name, arguments)| Call::new(id, name, arguments)).to_vec();
        Self { calls, ..Self::default() }
    }

    /// Answers with a status.
    pub fn status(status: u16, headers: &[(&str, &str)], body: &str) -> Self {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Self { refusal: Some(Refusal { status, headers, body: body.to_owned() }), ..Self::default() }
    }

    pub fn finish(self, finish: Finish) -> Self {
        Self { finish, ..self }
    }

    pub fn ending(self, ending: Ending) -> Self {
        Self { ending, ..self }
    }

    pub fn thinking(self, blocks: Vec<Value>) -> Self {
        Self { thinking: blocks, ..self }
    }
}

/// One thing that goes over the wire.
pub enum Step {
    Bytes(Bytes),
    Cut,
    Stall,
}

impl Step {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Bytes(Bytes::from(text.into()))
    }
}

/// The steps that stand in place of a whole ending after the text; none where the turn goes on.
pub fn broken_ending(ending: Ending) -> Option<Vec<Step>> {
    match ending {
        Ending::Whole | Ending::CutInCall | Ending::NoFinish => None,
        Ending::Stall => Some(vec![Step::Stall]),
        Ending::HugeLine(bytes) => {
            // One piece over and over, so that the line costs no memory here.
            let piece = Bytes::from(vec![b'x'; 1 << 16]);
            let line = std::iter::repeat_n(piece, bytes.div_ceil(1 << 16)).map(Step::Bytes);
            Some(std::iter::once(Step::text("data: ")).chain(line).collect())
        }
        Ending::ErrorEvent => {
            let event = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
            Some(vec![Step::text(format!("event: error\ndata: {event}\n\n"))])
        }
    }
}

/// Arguments in the pieces in which a model streams them.
pub fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(7).map(|piece| piece.iter().collect()).collect()
}
