//! The catalog as the model sees it.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::catalog::source::Sources;
use crate::tools::read::calling::{items, read, refused};
use crate::tools::read::describe_service::describe_service;
use crate::tools::read::sight::AllBut;

fn catalog() -> Arc<Catalog> {
    let services = json!({
        "checkout": {
            "description": "takes orders", "environment": "production", "owner": "ada", "depends_on": ["payments"],
            "health": ["http://127.0.0.1:1/healthz"], "metrics_url": "http://127.0.0.1:1/metrics",
        },
        "payments": {},
    });
    let services: BTreeMap<ServiceName, Service> = serde_json::from_value(services).unwrap();
    Arc::new(Catalog::new(services, Sources::default()).unwrap())
}

#[tokio::test]
async fn all_services() {
    let output = read(&*list_services(catalog(), Arc::new(AllBut(&[]))), json!({})).await.unwrap();
    insta::assert_json_snapshot!(json!([output.summary, items(&output)]), @r#"
    [
      {
        "services_known": 2
      },
      [
        {
          "name": "checkout",
          "description": "takes orders",
          "environment": "production",
          "owner": "ada",
          "depends_on": [
            "payments"
          ],
          "signals": [
            "metrics_url",
            "health"
          ]
        },
        {
          "name": "payments",
          "description": "",
          "environment": null,
          "owner": null,
          "depends_on": [],
          "signals": []
        }
      ]
    ]
    "#);
}

#[tokio::test]
async fn services_that_the_requester_may_not_read_are_counted_and_not_shown() {
    let output = read(&*list_services(catalog(), Arc::new(AllBut(&["checkout"]))), json!({})).await.unwrap();
    assert_eq!(output.summary["services_known"], 1);
    insta::assert_snapshot!(output.left_out.clone().unwrap(), @"1 rows of services that the requester may not read are not shown");
    let rows = items(&output);
    assert!(rows.len() == 1 && rows[0]["name"] == "payments", "{rows:?}");
}

#[tokio::test]
async fn one_service_with_its_neighbours() {
    let tool = describe_service(catalog());
    let summary = async |name: &str| read(&*tool, json!({ "service": name })).await.unwrap().summary;
    insta::assert_json_snapshot!(summary("checkout").await, @r#"
    {
      "service": "checkout",
      "description": "takes orders",
      "environment": "production",
      "owner": "ada",
      "depends_on": [
        "payments"
      ],
      "metrics_url": "http://127.0.0.1:1/metrics",
      "health": [
        "http://127.0.0.1:1/healthz"
      ]
    }
    "#);
    insta::assert_json_snapshot!(summary("payments").await, @r#"
    {
      "service": "payments",
      "depended_on_by": [
        "checkout"
      ]
    }
    "#);
    insta::assert_snapshot!(refused(&*tool, json!({ "service": "cart" }))[0].message, @"there is no service `cart`; `list_services` names them");
}
