# `npm run test:clients` (../run.ts) runs this program with a generated client, and compares its output with transcript.txt.
import datetime, os
from ledger import AuthenticatedClient, Client
from ledger.api.categories import create_category, list_categories
from ledger.api.service import list_months
from ledger.api.summary import read_summary, read_summary_series
from ledger.api.transactions import (
    create_transaction, create_transactions, delete_transaction, delete_transactions, export_transactions,
    export_transactions_as_json, list_transactions, read_transaction, search_transactions, update_transaction,
    update_transactions,
)
from ledger.models import (
    CategoryInput, ExportTransactionsFormat, Failure, ListTransactionsSort, ReadSummaryGroupBy, ReadSummarySeriesGroupBy,
    SearchTransactionsSort, TransactionInput, TransactionInputList, TransactionRemoval, TransactionRemovalList,
    TransactionType, TransactionUpdate, TransactionUpdateItem, TransactionUpdateList,
)

url = os.environ["LEDGER_URL"]
connect = lambda key: AuthenticatedClient(base_url=url, token=key, raise_on_unexpected_status=True)
ledger = connect(os.environ["LEDGER_KEY"])
day = datetime.date.fromisoformat
format_amount = "{:.2f}".format


def expect_failure(response, word=""):
    assert isinstance(response.parsed, Failure), response
    print(f"{response.status_code} {response.parsed.error} {word}".rstrip())
    return response.parsed


food = create_category.sync(client=ledger, body=CategoryInput(name="Food")).data
print("category", food.name)

def boat_input(amount, external_id="bank-1"):
    return TransactionInput(
        description="Boat", amount=amount, type_=TransactionType.EXPENSE, category_id=food.id,
        transaction_date=day("2026-03-05"), notes="Blue", external_id=external_id, import_id="march",
    )

def create_once(amount):
    return create_transaction.sync_detailed(client=ledger, body=boat_input(amount), idempotency_key="boat")

boat = create_once(12345678.91).parsed.data
print("created", format_amount(boat.amount))
print("retried:", "the same" if create_once(12345678.91).parsed.data.id == boat.id else "another")

transactions = [
    TransactionInput(description="Prize", amount=999999999999.99, type_=TransactionType.INCOME, transaction_date=day("2026-04-06")),
    TransactionInput(description="Refund", amount=0.01, type_=TransactionType.EXPENSE, transaction_date=day("2026-04-07")),
    TransactionInput(description="Lost", amount=1, type_=TransactionType.EXPENSE, category_id=999999),
]
bulk = create_transactions.sync(client=ledger, body=TransactionInputList(transactions=transactions))
prize, refund, lost = bulk.data.results
print("bulk", prize.status, refund.status, lost.status, lost.error)
print("stored", format_amount(read_transaction.sync(prize.id, client=ledger).data.amount))

march = {"start_date": day("2026-03-01"), "end_date": day("2026-03-31")}
filters = {"client": ledger, "type_": TransactionType.EXPENSE, "category_id": str(food.id), "q": "boat", "page": 1, "per_page": 10, **march}
listed = list_transactions.sync(external_id="bank-1", import_id="march", sort=ListTransactionsSort.DATE, **filters)
first = listed.data[0]
print(f"every filter: {len(listed.data)} of {listed.pagination.total}, {first.description} in {first.category_name}")
uncategorised = {"client": ledger, "category_id": "none", "sort": ListTransactionsSort.VALUE_1, "per_page": 1}
newest = list_transactions.sync(**uncategorised)
oldest = list_transactions.sync(**uncategorised, after=newest.pagination.next_cursor)
end = oldest.pagination.next_cursor or "none"
print(f"uncategorised: {newest.data[0].description}, then {oldest.data[0].description}, then {end}")
searched = search_transactions.sync(min_amount=1, max_amount=99999999.99, sort=SearchTransactionsSort.VALUE_3, **filters)
print(f"searched: {searched.pagination.total}, expense {format_amount(searched.summary.expense)}")

def update_boat():
    changes = TransactionUpdate(amount=12345678.92, notes="Red")
    return update_transaction.sync_detailed(boat.id, client=ledger, body=changes, if_match=boat.etag)

updated = update_boat().parsed.data
print("updated", format_amount(updated.amount), updated.notes)
changes = TransactionUpdateList(transactions=[TransactionUpdateItem(id=refund.id, amount=0.02)])
print("bulk update", update_transactions.sync(client=ledger, body=changes).data.results[0].status)

months = list_months.sync(client=ledger).data
print("months:", ", ".join(f"{each.month} {format_amount(abs(each.net))}" for each in months))
read_groups = lambda by: read_summary.sync(client=ledger, group_by=ReadSummaryGroupBy(by)).data.groups
by_food, income, year = read_groups("category")[0], read_groups("type")[0], read_groups("year")[0]
print("by category:", by_food.name, format_amount(by_food.expense))
print("by type:", income.type_, format_amount(income.income))
print("by month:", len(read_groups("month")))
print("by year:", year.period, year.count)
series = read_summary_series.sync(client=ledger, group_by=ReadSummarySeriesGroupBy("category,month")).data
print(f"series: {' '.join(series.months)}, {series.groups[0].name} {' '.join(map(format_amount, series.groups[0].expense))}")

part = export_transactions_as_json.sync(client=ledger, **march)
is_complete = part.next_ is None and part.digest == months[0].digest
print(f"export: {len(part.data)},", "complete" if is_complete else "incomplete")
file = export_transactions.sync(client=ledger, format_=ExportTransactionsFormat.CSV)
print("file:", len(file.strip().split("\n")), "lines")
category = list_categories.sync(client=ledger, active_only=True, include_counts=True).data[0]
print("categories:", category.name, category.transaction_count)

invalid = create_transaction.sync_detailed(client=ledger, body=boat_input(0.001, None))
expect_failure(invalid, " ".join(invalid.parsed.details.additional_properties))
expect_failure(list_months.sync_detailed(client=Client(base_url=url)))
expect_failure(create_category.sync_detailed(client=connect(os.environ["READ_KEY"]), body=CategoryInput(name="Pay")))
expect_failure(read_transaction.sync_detailed(999999, client=ledger))
taken = create_category.sync_detailed(client=ledger, body=CategoryInput(name="Food"))
expect_failure(taken, "with Food" if taken.parsed.existing_id == food.id else "with another")
expect_failure(update_boat())
expect_failure(create_once(2))

removal = TransactionRemovalList(transactions=[TransactionRemoval(id=refund.id), TransactionRemoval(id=999999)])
print("bulk delete", *[each.status for each in delete_transactions.sync(client=ledger, body=removal).data.results])
assert delete_transaction.sync(boat.id, client=ledger).success
print("deleted")
