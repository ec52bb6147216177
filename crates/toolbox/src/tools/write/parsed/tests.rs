//! What parses and what does not, by form.

use super::Form;

#[test]
fn the_form_is_known_by_the_ending() {
    let forms = ["a.toml", "b/c.YML", "x.json", "x.ini", "nginx.conf", "toml"].map(Form::of);
    let expected = [Some(Form::Toml), Some(Form::Yaml), Some(Form::Json), Some(Form::Ini), None, None];
    assert_eq!(forms, expected);
}

#[test]
fn what_is_well_formed_parses_and_what_is_not_is_told() {
    let good: [(Form, &[u8]); 8] = [
        (Form::Toml, b"[pool]\nmax = 5\n"),
        (Form::Toml, b"\xef\xbb\xbfmax = 5\r\n"),
        (Form::Json, b"{\"a\": [1, 2]}"),
        (Form::Yaml, b"a: 1\nb: [x, y]\n---\nc: !tag &anchor 2\nd: *anchor\n"),
        (Form::Yaml, b""),
        (Form::Yaml, b"\t\n# one\n\t# two\na: 1\t# three\nb: |\n  \tc\n"),
        (Form::Ini, b"top = 1\n; comment\n[a b]\nkey: value\n  goes on\nempty =\n"),
        (Form::Ini, b""),
    ];
    for (form, bytes) in good {
        assert_eq!(form.parse(bytes), Ok(()), "{form}: {}", String::from_utf8_lossy(bytes));
    }
    let bad: [(Form, &[u8]); 13] = [
        (Form::Toml, b"max = \n"),
        (Form::Toml, b"a = 1\na = 2\n"),
        (Form::Json, b"{\"a\": 1,}"),
        (Form::Json, b"{} {}"),
        (Form::Yaml, b"a: [1, 2\n"),
        (Form::Yaml, b"a: b: c\n"),
        (Form::Yaml, b"a:\n\tb: 1\n"),
        (Form::Yaml, b"\ta: 1\n"),
        (Form::Yaml, b"# comment\n\n \ta: 1\n"),
        (Form::Yaml, b"a: 1\n---\n\tb: 1\n"),
        (Form::Yaml, b"a: 1\n\tb: 2\n"),
        (Form::Ini, b"[section\nkey = 1\n"),
        (Form::Toml, b"a = \"\xff\"\n"),
    ];
    for (form, bytes) in bad {
        let told = form.parse(bytes).expect_err(&String::from_utf8_lossy(bytes));
        assert!(!told.is_empty() && !told.contains('\n'), "{form}: {told}");
    }
}

#[test]
fn a_hostile_file_is_bounded() {
    // Were aliases followed, this would be 9^9 values.
    let line = |n: usize| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(","));
    let bomb: String = std::iter::once("a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned()).chain((1..9).map(line)).collect();
    assert_eq!(Form::Yaml.parse(bomb.as_bytes()), Ok(()));
    for form in [Form::Yaml, Form::Json, Form::Toml] {
        let deep = match form {
            Form::Toml => format!("a = {}", "[".repeat(100_000)),
            _ => "[".repeat(100_000),
        };
        assert!(form.parse(deep.as_bytes()).is_err(), "{form}");
    }
}
