// `npm run test:clients` (../run.ts) runs this program with a generated client, and compares its output with transcript.txt.
use openapi::apis::configuration::Configuration;
use openapi::apis::{categories_api as categories, service_api as service, summary_api as summary, transactions_api as ledger, Error};
use openapi::models::*;

fn connect(key: Option<&str>) -> Configuration {
    let base_path = std::env::var("LEDGER_URL").unwrap();
    let bearer_access_token = key.map(|name| std::env::var(name).unwrap());
    Configuration { base_path, bearer_access_token, ..Default::default() }
}

fn row(description: &str, amount: f64, kind: TransactionType, date: &str) -> TransactionInput {
    let transaction_date = Some(date.to_string());
    TransactionInput { transaction_date, ..TransactionInput::new(description.into(), amount, kind) }
}

fn boat_input(food: &Category, amount: f64) -> TransactionInput {
    TransactionInput {
        category_id: Some(Some(food.id)),
        notes: Some(Some("Blue".into())),
        external_id: Some(Some("bank-1".into())),
        import_id: Some(Some("march".into())),
        ..row("Boat", amount, TransactionType::Expense, "2026-03-05")
    }
}

fn changes() -> TransactionUpdate {
    TransactionUpdate { amount: Some(12345678.92), notes: Some(Some("Red".into())), ..TransactionUpdate::new() }
}

fn expect_failure<Success, Typed>(result: Result<Success, Error<Typed>>, describe: impl Fn(&Failure) -> String) {
    let Err(Error::ResponseError(response)) = result else { panic!("An error was expected") };
    let failure: Failure = serde_json::from_str(&response.content).unwrap();
    let line = format!("{} {} {}", response.status.as_u16(), failure.error, describe(&failure));
    println!("{}", line.trim());
}

async fn read_groups(settings: &Configuration, by: &str) -> Vec<SummaryGroup> {
    summary::read_summary(settings, by, None, None, None, None).await.unwrap().data.groups
}

async fn list_uncategorised(settings: &Configuration, after: Option<&str>) -> TransactionPage {
    ledger::list_transactions(settings, None, Some("none"), None, None, None, None, None, Some("-date"), None, Some(1), after).await.unwrap()
}

#[tokio::main]
async fn main() {
    let settings = &connect(Some("LEDGER_KEY"));
    let without_details = |_: &Failure| String::new();
    let food = *categories::create_category(settings, CategoryInput::new("Food".into()), None).await.unwrap().data;
    println!("category {}", food.name);
    let idempotency_key = Some("boat");
    let boat = *ledger::create_transaction(settings, boat_input(&food, 12345678.91), idempotency_key).await.unwrap().data;
    println!("created {:.2}", boat.amount);
    let retried = ledger::create_transaction(settings, boat_input(&food, 12345678.91), idempotency_key).await.unwrap().data;
    println!("retried: {}", if retried.id == boat.id { "the same" } else { "another" });

    let rows = vec![
        row("Prize", 999999999999.99, TransactionType::Income, "2026-04-06"),
        row("Refund", 0.01, TransactionType::Expense, "2026-04-07"),
        TransactionInput { category_id: Some(Some(999999)), ..row("Lost", 1.0, TransactionType::Expense, "2026-04-07") },
    ];
    let bulk = ledger::create_transactions(settings, TransactionInputList::new(rows), None).await.unwrap().data.results;
    let error = bulk[2].error.unwrap();
    println!("bulk {} {} {} {}", bulk[0].status, bulk[1].status, bulk[2].status, error);
    let stored_prize = ledger::read_transaction(settings, bulk[0].id.unwrap(), None, None).await.unwrap().data;
    println!("stored {:.2}", stored_prize.amount);

    let (first, last) = (|| Some("2026-03-01".to_string()), || Some("2026-03-31".to_string()));
    let (food_id, expense) = (food.id.to_string(), Some(TransactionType::Expense));
    let listed = ledger::list_transactions(
        settings, expense, Some(&food_id), first(), last(), Some("bank-1"), Some("march"), Some("boat"), Some("date"), Some(1), Some(10), None,
    ).await.unwrap();
    let row = &listed.data[0];
    let category_name = row.category_name.as_ref().unwrap();
    println!("every filter: {} of {}, {} in {}", listed.data.len(), listed.pagination.total, row.description, category_name);
    let newest = list_uncategorised(settings, None).await;
    let oldest = list_uncategorised(settings, newest.pagination.next_cursor.as_deref()).await;
    let end = oldest.pagination.next_cursor.unwrap_or("none".into());
    println!("uncategorised: {}, then {}, then {}", newest.data[0].description, oldest.data[0].description, end);
    let searched = ledger::search_transactions(
        settings, Some("boat"), Some(1.0), Some(99999999.99), expense, Some(&food_id), first(), last(), Some("-amount"), Some(1), Some(10), None,
    ).await.unwrap();
    println!("searched: {}, expense {:.2}", searched.pagination.total, searched.summary.expense);

    let if_match = Some(boat.etag.as_str());
    let updated = ledger::update_transaction(settings, boat.id, changes(), if_match, None).await.unwrap().data;
    println!("updated {:.2} {}", updated.amount, updated.notes.unwrap());
    let refund = bulk[1].id.unwrap();
    let item = TransactionUpdateItem { amount: Some(0.02), ..TransactionUpdateItem::new(refund) };
    let bulk_update = ledger::update_transactions(settings, TransactionUpdateList::new(vec![item]), None).await.unwrap();
    println!("bulk update {}", bulk_update.data.results[0].status);

    let months = service::list_months(settings, None, None, None).await.unwrap().data;
    let nets: Vec<String> = months.iter().map(|each| format!("{} {:.2}", each.month, each.net.abs())).collect();
    println!("months: {}", nets.join(", "));
    let by_food = &read_groups(settings, "category").await[0];
    println!("by category: {} {:.2}", by_food.name.clone().flatten().unwrap(), by_food.expense);
    let income = &read_groups(settings, "type").await[0];
    println!("by type: {} {:.2}", income.r#type.unwrap(), income.income);
    println!("by month: {}", read_groups(settings, "month").await.len());
    let year = &read_groups(settings, "year").await[0];
    println!("by year: {} {}", year.period.as_ref().unwrap(), year.count);
    let series = summary::read_summary_series(settings, "category,month", None, None, None, None).await.unwrap().data;
    let foods = &series.groups[0];
    let name = foods.name.clone().flatten().unwrap();
    println!("series: {}, {} {:.2} {:.2}", series.months.unwrap().join(" "), name, foods.expense[0], foods.expense[1]);

    let part = ledger::export_transactions_as_json(settings, None, None, first(), last(), None, None, None, None).await.unwrap();
    let is_complete = part.next.is_none() && part.digest.flatten() == months[0].digest;
    println!("export: {}, {}", part.data.len(), if is_complete { "complete" } else { "incomplete" });
    // The generated function reads only text/plain.
    let csv = settings.client.get(format!("{}/transactions/export?format=csv", settings.base_path));
    let response = csv.bearer_auth(settings.bearer_access_token.as_ref().unwrap()).send().await.unwrap();
    let file = response.text().await.unwrap();
    println!("file: {} lines", file.trim().split('\n').count());
    let listed = categories::list_categories(settings, Some(true), Some(true), None).await.unwrap().data;
    println!("categories: {} {}", listed[0].name, listed[0].transaction_count.unwrap());

    let invalid = TransactionInput { external_id: None, ..boat_input(&food, 0.001) };
    expect_failure(ledger::create_transaction(settings, invalid, None).await, |failure| {
        failure.details.iter().flat_map(|details| details.keys().cloned()).collect()
    });
    expect_failure(service::list_months(&connect(None), None, None, None).await, without_details);
    let reader = connect(Some("READ_KEY"));
    expect_failure(categories::create_category(&reader, CategoryInput::new("Pay".into()), None).await, without_details);
    expect_failure(ledger::read_transaction(settings, 999999, None, None).await, without_details);
    expect_failure(categories::create_category(settings, CategoryInput::new("Food".into()), None).await, |failure| {
        if failure.existing_id == Some(food.id) { "with Food".into() } else { "with another".into() }
    });
    expect_failure(ledger::update_transaction(settings, boat.id, changes(), if_match, None).await, without_details);
    expect_failure(ledger::create_transaction(settings, boat_input(&food, 2.0), idempotency_key).await, without_details);

    let removal = TransactionRemovalList::new(vec![TransactionRemoval::new(refund), TransactionRemoval::new(999999)]);
    let removed = ledger::delete_transactions(settings, removal, None).await.unwrap().data.results;
    println!("bulk delete {} {}", removed[0].status, removed[1].status);
    ledger::delete_transaction(settings, boat.id, None, None).await.unwrap();
    println!("deleted");
}
