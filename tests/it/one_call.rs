//! The example of one write call does what it says.

#[expect(dead_code, reason = "its own `main` is not called here")]
#[path = "../../examples/one_call.rs"]
mod example;

#[tokio::test]
async fn the_example_of_one_write_call_lights_its_lamp() {
    let dir = tempfile::tempdir().unwrap();
    let (result, lit) = example::one_call(dir.path()).await.unwrap();
    assert!(result.ok && lit, "{result:#?}");
    assert_eq!(result.data["approval"], "A1");
    assert_eq!(result.data["verified"]["held"], "held");
    assert_eq!(result.meta.side_effects, ["the lamp is lit"]);
}
