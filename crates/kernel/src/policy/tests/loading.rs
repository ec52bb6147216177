//! What does not load, told with file and line.

use crate::domain::decision::Risk;
use crate::domain::target::TargetKind;
use crate::domain::tool::ToolDefinition;
use crate::policy::{Policy, PolicyText, schema};

use super::{SHIPPED, roles, tool, tools};

/// A tool of each kind of resource and more than one of a risk.
const FEW: [&str; 4] = ["search_logs", "read_file", "restart_service", "edit_config"];

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
when { context.channel == Channel::"pager" };

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
    ops.cedar:25: for policy `f`: entity `Channel::"pager"` is of an enumerated entity type, but `"pager"` is not declared as a valid eid; valid entity eids: "terminal", "command", "demo", "slack", "alert", "api"
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
    let tools = tools();
    let few: Vec<&ToolDefinition> = tools.iter().filter(|tool| FEW.contains(&tool.name.as_str())).collect();
    let made = cedar_policy::SchemaFragment::from_json_value(schema::json(&few, &roles())).unwrap();
    let made = made.to_cedarschema().unwrap();
    // Resources are alike, and so are tools, the questions of a tier, and what persons do.
    let some = ["search_logs", "edit_config", "one_suffices", "approve", "stop_writes"];
    let is_shown = |part: &str| {
        let action = part.strip_prefix("action \"").and_then(|rest| rest.split('"').next());
        let left_out = ["Catalog", "Evidence", "Runbooks", "Source", "Path", "Channel", "Trigger", "Group", "Tier"];
        let entity = part.strip_prefix("entity ").and_then(|rest| rest.split(' ').next());
        action.is_some_and(|name| some.contains(&name)) || entity.is_some_and(|name| !left_out.contains(&name))
    };
    let shown: Vec<&str> = made.split("\n\n").filter(|part| is_shown(part)).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    entity Environment;
    entity Group;
    entity Person in [Group];
    entity Risk enum ["read", "write", "shell", "network", "dangerous"];
    entity Role enum ["explore", "general-purpose", "intern"];
    entity Run in [Role] = {
      requester: Person,
      service?: Service,
      trigger: Trigger
    };
    entity Service in [Path, Source, Service, Environment] = {
      environment?: Environment,
      name: __cedar::String,
      owner?: Person
    };
    entity System enum ["warrant"];
    entity Tool enum ["search_logs", "read_file", "restart_service", "edit_config"];
    action "approve" appliesTo {
      principal: [Person],
      resource: [Service, Source, Path, Catalog],
      context: {
        channel: Channel,
        contributor: __cedar::Bool,
        is_requester: __cedar::Bool,
        now: __cedar::Long,
        tier: Tier,
        tool: Tool
      }
    };
    action "edit_config" in [Action::"write"] appliesTo {
      principal: [Run],
      resource: [Catalog, Path, Service, Source],
      context: {
        allow_writes: __cedar::Bool,
        args: {
          new_string: __cedar::String,
          path: __cedar::String
        },
        channel: Channel,
        now: __cedar::Long
      }
    };
    action "one_suffices" appliesTo {
      principal: [Run],
      resource: [Service, Source, Path, Catalog],
      context: {
        args: {
          edit_config?: {
            new_string: __cedar::String,
            path: __cedar::String
          },
          restart_service?: {
            service: __cedar::String
          }
        },
        channel: Channel,
        now: __cedar::Long,
        risk: Risk,
        tier: Tier,
        tool: Tool
      }
    };
    action "search_logs" in [Action::"read"] appliesTo {
      principal: [Run],
      resource: [Catalog, Service, Source],
      context: {
        allow_writes: __cedar::Bool,
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
    action "stop_writes" appliesTo {
      principal: [Person],
      resource: [System],
      context: {
        channel: Channel,
        now: __cedar::Long
      }
    };
    "#);
}

#[test]
fn policies_know_where_they_stand() {
    let ops = PolicyText {
        name: "ops.cedar",
        text: "// x\n\n@id(\"one\")\npermit (principal, action in Action::\"read\", resource);\n\
               @id(\"two\")\npermit (principal, action in Action::\"read\", resource);\n",
    };
    let policy = Policy::load(&[SHIPPED[1], ops], &tools(), &roles()).unwrap();
    let places: Vec<String> =
        policy.sources().map(|source| format!("{} {}:{}", source.id, source.file, source.line)).collect();
    insta::assert_snapshot!(places.join("\n"), @r"
    demo-stays-out-of-production policies/reads.cedar:54
    one ops.cedar:3
    reads-by-role policies/reads.cedar:29
    restricted-needs-group policies/reads.cedar:40
    two ops.cedar:5
    ");
}

#[test]
fn a_permit_says_which_actions() {
    let text = "@id(\"all\")\npermit (principal, action, resource);\n\
                @id(\"none\") forbid (principal, action, resource) when { resource in Environment::\"lab\" };\n";
    insta::assert_snapshot!(refused(&[("ops.cedar", text)]), @r#"ops.cedar:1: policy `all` permits every action: say which, as in `action in Action::"read"`"#);
}

#[test]
fn a_tool_may_not_bear_the_name_of_another_action() {
    for name in ["read", "approve", "low_suffices"] {
        let tools = [tool(name, Risk::Read, TargetKind::Service, &[])];
        let errors = Policy::load(&[], &tools, &roles()).unwrap_err();
        assert!(errors[0].to_string().contains(&format!("a tool can't be called `{name}`")), "{errors:?}");
    }
}

#[test]
fn a_mistyped_word_about_a_tier_or_a_person_is_told_with_its_line() {
    let text = r#"@id("a") permit (principal, action == Action::"medium_suffice", resource);
@id("b") permit (principal, action == Action::"medium_suffices", resource) when { context.tool == Tool::"edit_confg" };
@id("c") permit (principal, action == Action::"low_suffices", resource)
when { context.args has edit_config && context.args.edit_config.pth == "a" };
@id("d") permit (principal, action == Action::"low_suffices", resource)
when { context.args.edit_config.path == "a" };
@id("e") permit (principal, action == Action::"approve", resource) when { context.contributer };
@id("f") permit (principal, action == Action::"approve", resource) when { context.tier == Tier::"hgh" };
@id("g") permit (principal in Role::"explore", action == Action::"approve", resource);
@id("h") permit (principal in Group::"sre", action == Action::"stop_writes", resource is Service);
@id("i") permit (principal in Group::"sre", action == Action::"lift_stop", resource) when { context.tier == Tier::"high" };
"#;
    insta::assert_snapshot!(refused(&[("ops.cedar", text)]), @r#"
    ops.cedar:1: for policy `a`, unrecognized action `Action::"medium_suffice"`; did you mean `Action::"medium_suffices"`?
    ops.cedar:2: for policy `b`: entity `Tool::"edit_confg"` is of an enumerated entity type, but `"edit_confg"` is not declared as a valid eid; valid entity eids: "search_logs", "read_file", "restart_service", "edit_config", "edit_temp_config", "restore_config", "create_silence", "drain_node", "run_shell", "fetch", "unknown_power"
    ops.cedar:4: for policy `c`, attribute `args.edit_config.pth` in context for Action::"low_suffices" not found; did you mean `path`?
    ops.cedar:6: for policy `d`, unable to guarantee safety of access to optional attribute `args.edit_config` in context for Action::"low_suffices"; try testing for the attribute's presence with `context.args has edit_config && ..`
    ops.cedar:7: for policy `e`, attribute `contributer` in context for Action::"approve" not found; did you mean `contributor`?
    ops.cedar:8: for policy `f`: entity `Tier::"hgh"` is of an enumerated entity type, but `"hgh"` is not declared as a valid eid; valid entity eids: "low", "medium", "high"
    ops.cedar:9: for policy `g`, policy is impossible: the policy expression evaluates to false for all valid requests
    ops.cedar:9: for policy `g`, unable to find an applicable action given the policy scope constraints
    ops.cedar:10: for policy `h`, policy is impossible: the policy expression evaluates to false for all valid requests
    ops.cedar:10: for policy `h`, unable to find an applicable action given the policy scope constraints
    ops.cedar:11: for policy `i`, attribute `tier` in context for Action::"lift_stop" not found; did you mean `now`?
    "#);
}

#[test]
fn the_texts_in_force_have_one_digest_whatever_their_order() {
    let (one, two) = (SHIPPED[0], SHIPPED[1]);
    let load = |texts: &[PolicyText<'_>]| Policy::load(texts, &tools(), &roles()).unwrap().in_force().clone();
    let there = load(&[one, two]);
    assert_eq!(there, load(&[two, one]));
    assert_eq!(there.digest().len(), 64, "{}", there.digest());
    let text: serde_json::Value = serde_json::from_str(there.text()).unwrap();
    assert_eq!(text["policies"][1]["text"], two.text);
    assert_ne!(there.digest(), load(&[one]).digest());
}
