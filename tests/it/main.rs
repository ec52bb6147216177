//! The tests that run the built program; a module a topic.

mod shop;
