//! What does not load, told with file and line.

use crate::policy::{Policy, PolicyText, schema};

use super::{policy, roles, tools};

fn refused(files: &[(&str, &str)]) -> String {
    let texts: Vec<PolicyText<'_>> = files.iter().map(|(name, text)| PolicyText { name, text }).collect();
    let errors = Policy::load(&texts, &tools(), &roles()).unwrap_err();
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_mistyped_word_is_told_with_its_line() {
    let text = r#"
@id("a")
permit (principal, action in Action::"read", resource)
when {
    principal.requestor == Person::"ann"
};

@id("b")
permit (principal in Role::"exlpore", action == Action::"serch_logs", resource);

@id("c")
permit (principal, action == Action::"search_logs", resource)
when { context.args.limt > 3 };

@id("d")
permit (principal, action == Action::"search_logs", resource)
when { context.args.limit > "3" };

@id("e")
permit (principal, action == Action::"search_logs", resource)
when { context.args.window > 3 };

@id("f")
forbid (principal, action == Action::"search_logs", resource)
when { context.channel == Channel::"slack" };

@id("g")
forbid (principal, action == Action::"search_logs", resource)
when { resource == Servce::"checkout" };
"#;
    insta::assert_snapshot!(refused(&[("ops.cedar", text)]), @r#"
    ops.cedar:5: for policy `a`, attribute `requestor` on entity type `Run` not found; did you mean `requester`?
    ops.cedar:9: for policy `b`, unrecognized action `Action::"serch_logs"`; did you mean `Action::"search_logs"`?
    ops.cedar:9: for policy `b`: entity `Role::"exlpore"` is of an enumerated entity type, but `"exlpore"` is not declared as a valid eid; valid entity eids: "explore", "general-purpose", "intern"
    ops.cedar:13: for policy `c`, attribute `args.limt` in context for Action::"search_logs" not found; did you mean `limit`?
    ops.cedar:17: for policy `d`, unexpected type: expected Long but saw String
    ops.cedar:21: for policy `e`, unable to guarantee safety of access to optional attribute `args.window` in context for Action::"search_logs"; try testing for the attribute's presence with `context.args has window && ..`
    ops.cedar:25: for policy `f`: entity `Channel::"slack"` is of an enumerated entity type, but `"slack"` is not declared as a valid eid; valid entity eids: "terminal", "command", "demo"
    ops.cedar:29: for policy `g`, unrecognized entity type `Servce`; did you mean `Service`?
    "#);
}

#[test]
fn a_syntax_error_is_told_with_its_line() {
    let text = "@id(\"a\")\npermit (principal, action, resource)\nwhen { principal. };\n";
    insta::assert_snapshot!(refused(&[("ops.cedar", text)]), @"ops.cedar:3: unexpected token `}`");
    insta::assert_snapshot!(refused(&[("ops.cedar", "permit (principal, action, resource")]), @"ops.cedar:1: unexpected end of input");
}

#[test]
fn ids_are_there_well_formed_and_taken_once() {
    let one = "// first\n@id(\"a\") permit (principal, action in Action::\"read\", resource);\n\n\
               permit (principal, action in Action::\"read\", resource);\n\
               @id(\"default-deny\") permit (principal, action in Action::\"read\", resource);\n\
               @id(\"a b\") permit (principal, action in Action::\"read\", resource);\n";
    let two = "\n@id(\"a\") forbid (principal, action in Action::\"read\", resource);\n";
    insta::assert_snapshot!(refused(&[("one.cedar", one), ("two.cedar", two)]), @r#"
    one.cedar:4: a policy needs an id: write `@id("...")` before it; it is what is recorded
    one.cedar:5: `default-deny` is no id for a policy: letters, digits, `-`, `_` and `.`, at most 80, and not `default-deny`
    one.cedar:6: `a b` is no id for a policy: letters, digits, `-`, `_` and `.`, at most 80, and not `default-deny`
    two.cedar:2: the id `a` is already taken in one.cedar:2
    "#);
}

#[test]
fn a_template_and_a_policy_that_can_never_apply_are_refused() {
    let text = "@id(\"slot\") permit (principal == ?principal, action, resource);\n\
                @id(\"never\") forbid (principal, action == Action::\"search_logs\", resource) when { false };\n\
                @id(\"bidi\") forbid (principal, action == Action::\"search_logs\", resource)\n\
                when { resource.name == \"user\u{202e}nimda\" };\n";
    insta::assert_snapshot!(refused(&[("ops.cedar", text)]), @r#"
    ops.cedar:1: has a slot (`?principal`, `?resource`): templates are not supported
    ops.cedar:2: for policy `never`, policy is impossible: the policy expression evaluates to false for all valid requests
    ops.cedar:4: for policy `bidi`, string `"user\u{202e}nimda"` contains BIDI control characters
    "#);
}

#[test]
fn the_schema_says_what_policies_may_ask() {
    let made = cedar_policy::SchemaFragment::from_json_value(schema::json(&tools(), &roles())).unwrap();
    insta::assert_snapshot!(made.to_cedarschema().unwrap(), @r#"
    entity Catalog in [Path, Source, Service, Environment] = {
      name: __cedar::String,
      owner?: Person
    };

    entity Channel enum ["terminal", "command", "demo"];

    entity Environment;

    entity Evidence in [Path, Source, Service, Environment] = {
      name: __cedar::String,
      owner?: Person
    };

    entity Group;

    entity Path in [Path, Source, Service, Environment] = {
      name: __cedar::String,
      owner?: Person
    };

    entity Person in [Group];

    entity Role enum ["explore", "general-purpose", "intern"];

    entity Run in [Role] = {
      requester: Person,
      service?: Service,
      trigger: Trigger
    };

    entity Runbooks in [Path, Source, Service, Environment] = {
      name: __cedar::String,
      owner?: Person
    };

    entity Service in [Path, Source, Service, Environment] = {
      name: __cedar::String,
      owner?: Person
    };

    entity Source in [Path, Source, Service, Environment] = {
      name: __cedar::String,
      owner?: Person
    };

    entity Trigger enum ["question", "alert"];

    action "dangerous";

    action "network";

    action "read";

    action "read_file" in [Action::"read"] appliesTo {
      principal: [Run],
      resource: [Catalog, Path, Service, Source],
      context: {
        args: {
          path: __cedar::String
        },
        channel: Channel,
        now: __cedar::Long
      }
    };

    action "restart_service" in [Action::"write"] appliesTo {
      principal: [Run],
      resource: [Catalog, Service, Source],
      context: {
        args: {
          service: __cedar::String
        },
        channel: Channel,
        now: __cedar::Long
      }
    };

    action "run_shell" in [Action::"shell"] appliesTo {
      principal: [Run],
      resource: [Catalog, Service, Source],
      context: {
        args: {    },
        channel: Channel,
        now: __cedar::Long
      }
    };

    action "search_logs" in [Action::"read"] appliesTo {
      principal: [Run],
      resource: [Catalog, Service, Source],
      context: {
        args: {
          limit: __cedar::Long,
          pattern?: __cedar::String,
          service: __cedar::String,
          since: __cedar::Long,
          window?: __cedar::Long
        },
        channel: Channel,
        now: __cedar::Long
      }
    };

    action "shell";

    action "write";
    "#);
}

#[test]
fn policies_know_where_they_stand() {
    let policy = policy(&[PolicyText {
        name: "ops.cedar",
        text: "// x\n\n@id(\"one\")\npermit (principal, action in Action::\"read\", resource);\n\
               @id(\"two\")\npermit (principal, action in Action::\"read\", resource);\n",
    }]);
    let places: Vec<String> =
        policy.sources().map(|source| format!("{} {}:{}", source.id, source.file, source.line)).collect();
    insta::assert_snapshot!(places.join("\n"), @r"
    demo-stays-out-of-production policies/reads.cedar:51
    one ops.cedar:3
    reads-by-role policies/reads.cedar:26
    restricted-needs-group policies/reads.cedar:37
    two ops.cedar:5
    ");
}
