# `npm run test:clients` (../run.ts) runs this program with a generated client, and compares its output with transcript.txt.
import datetime, os
from openapi_client import (
    ApiClient, ApiException, CategoriesApi, CategoryInput, Configuration, Failure, ServiceApi, SummaryApi, TransactionInput,
    TransactionInputList, TransactionRemoval, TransactionRemovalList, TransactionUpdate, TransactionUpdateItem,
    TransactionUpdateList, TransactionsApi,
)

connect = lambda key: ApiClient(Configuration(host=os.environ["LEDGER_URL"], access_token=key))
client = connect(os.environ["LEDGER_KEY"])
ledger, categories, summary, service = TransactionsApi(client), CategoriesApi(client), SummaryApi(client), ServiceApi(client)
day = datetime.date.fromisoformat
format_amount = "{:.2f}".format


def expect_failure(send, describe=lambda failure: ""):
    try:
        send()
    except ApiException as error:
        failure = Failure.from_json(error.body)
        print(f"{error.status} {failure.error.value} {describe(failure)}".rstrip())
        return
    raise AssertionError("An error was expected")


food = categories.create_category(CategoryInput(name="Food")).data
print("category", food.name)

def create_boat(amount, external_id="bank-1", idempotency_key="boat"):
    boat = TransactionInput(
        description="Boat", amount=amount, type="expense", category_id=food.id, transaction_date=day("2026-03-05"),
        notes="Blue", external_id=external_id, import_id="march",
    )
    return ledger.create_transaction(boat, idempotency_key=idempotency_key).data

boat = create_boat(12345678.91)
print("created", format_amount(boat.amount))
print("retried:", "the same" if create_boat(12345678.91).id == boat.id else "another")

transactions = [
    TransactionInput(description="Prize", amount=999999999999.99, type="income", transaction_date=day("2026-04-06")),
    TransactionInput(description="Refund", amount=0.01, type="expense", transaction_date=day("2026-04-07")),
    TransactionInput(description="Lost", amount=1, type="expense", category_id=999999),
]
prize, refund, lost = ledger.create_transactions(TransactionInputList(transactions=transactions)).data.results
print("bulk", prize.status, refund.status, lost.status, lost.error.value)
print("stored", format_amount(ledger.read_transaction(prize.id).data.amount))

march = {"start_date": day("2026-03-01"), "end_date": day("2026-03-31")}
filters = {"type": "expense", "category_id": str(food.id), "q": "boat", "page": 1, "per_page": 10, **march}
listed = ledger.list_transactions(external_id="bank-1", import_id="march", sort="date", **filters)
first = listed.data[0]
print(f"every filter: {len(listed.data)} of {listed.pagination.total}, {first.description} in {first.category_name}")
uncategorised = {"category_id": "none", "sort": "-date", "per_page": 1}
newest = ledger.list_transactions(**uncategorised)
oldest = ledger.list_transactions(**uncategorised, after=newest.pagination.next_cursor)
end = oldest.pagination.next_cursor or "none"
print(f"uncategorised: {newest.data[0].description}, then {oldest.data[0].description}, then {end}")
searched = ledger.search_transactions(min_amount=1.0, max_amount=99999999.99, sort="-amount", **filters)
print(f"searched: {searched.pagination.total}, expense {format_amount(searched.summary.expense)}")

def update_boat():
    return ledger.update_transaction(boat.id, TransactionUpdate(amount=12345678.92, notes="Red"), if_match=boat.etag).data

updated = update_boat()
print("updated", format_amount(updated.amount), updated.notes)
changes = TransactionUpdateList(transactions=[TransactionUpdateItem(id=refund.id, amount=0.02)])
print("bulk update", ledger.update_transactions(changes).data.results[0].status)

months = service.list_months().data
print("months:", ", ".join(f"{each.month} {format_amount(abs(each.net))}" for each in months))
read_groups = lambda by: summary.read_summary(by).data.groups
by_food, income, year = read_groups("category")[0], read_groups("type")[0], read_groups("year")[0]
print("by category:", by_food.name, format_amount(by_food.expense))
print("by type:", income.type.value, format_amount(income.income))
print("by month:", len(read_groups("month")))
print("by year:", year.period, year.count)
series = summary.read_summary_series("category,month").data
print(f"series: {' '.join(series.months)}, {series.groups[0].name} {' '.join(map(format_amount, series.groups[0].expense))}")

part = ledger.export_transactions_as_json(**march)
is_complete = part.next is None and part.digest == months[0].digest
print(f"export: {len(part.data)},", "complete" if is_complete else "incomplete")
print("file:", len(ledger.export_transactions("csv").strip().split("\n")), "lines")
category = categories.list_categories(active_only=True, include_counts=True).data[0]
print("categories:", category.name, category.transaction_count)

expect_failure(lambda: create_boat(0.001, None, None), lambda failure: " ".join(failure.details))
expect_failure(lambda: ServiceApi(connect(None)).list_months())
expect_failure(lambda: CategoriesApi(connect(os.environ["READ_KEY"])).create_category(CategoryInput(name="Pay")))
expect_failure(lambda: ledger.read_transaction(999999))
describe_existing = lambda failure: "with Food" if failure.existing_id == food.id else "with another"
expect_failure(lambda: categories.create_category(CategoryInput(name="Food")), describe_existing)
expect_failure(update_boat)
expect_failure(lambda: create_boat(2.0))

removal = TransactionRemovalList(transactions=[TransactionRemoval(id=refund.id), TransactionRemoval(id=999999)])
print("bulk delete", *[each.status for each in ledger.delete_transactions(removal).data.results])
assert ledger.delete_transaction(boat.id).success
print("deleted")
