// `npm run test:clients` (../run.ts) runs this program with a generated client, and compares its output with transcript.txt.
import java.time.LocalDate;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.openapitools.client.*;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

public class Scenario {
  interface Send {
    void run() throws ApiException;
  }

  static ApiClient connect(String key) {
    var client = new ApiClient().setBasePath(System.getenv("LEDGER_URL"));
    if (key != null) client.setBearerToken(key);
    return client;
  }

  static final ApiClient client = connect(System.getenv("LEDGER_KEY"));
  static final TransactionsApi ledger = new TransactionsApi(client);
  static final CategoriesApi categories = new CategoriesApi(client);
  static final LocalDate first = LocalDate.parse("2026-03-01");
  static final LocalDate last = LocalDate.parse("2026-03-31");

  static String formatAmount(double amount) {
    return String.format("%.2f", amount);
  }

  static void print(String format, Object... values) {
    System.out.println(String.format(format, values).strip());
  }

  static void expectFailure(Send send, Function<Failure, String> describe) throws Exception {
    try {
      send.run();
    } catch (ApiException error) {
      var failure = Failure.fromJson(error.getResponseBody());
      print("%d %s %s", error.getCode(), failure.getError().getValue(), describe.apply(failure));
      return;
    }
    throw new AssertionError("An error was expected");
  }

  static void expectFailure(Send send) throws Exception {
    expectFailure(send, failure -> "");
  }

  static TransactionInput row(String description, double amount, TransactionType type, String date) {
    return new TransactionInput().description(description).amount(amount).type(type).transactionDate(LocalDate.parse(date));
  }

  static Transaction createBoat(long foodId, double amount, String externalId, String key) throws ApiException {
    var boat = row("Boat", amount, TransactionType.EXPENSE, "2026-03-05").categoryId(foodId).notes("Blue");
    return ledger.createTransaction(boat.externalId(externalId).importId("march"), key).getData();
  }

  static TransactionPage listUncategorised(String after) throws ApiException {
    return ledger.listTransactions(null, "none", null, null, null, null, null, "-date", null, 1L, after);
  }

  static List<SummaryGroup> readGroups(String by) throws ApiException {
    return new SummaryApi(client).readSummary(by, null, null, null, null).getData().getGroups();
  }

  static Transaction updateBoat(Transaction boat) throws ApiException {
    var changes = new TransactionUpdate().amount(12345678.92).notes("Red");
    return ledger.updateTransaction(boat.getId(), changes, boat.getEtag(), null).getData();
  }

  static Category createCategory(CategoriesApi api, String name) throws ApiException {
    return api.createCategory(new CategoryInput().name(name), null).getData();
  }

  public static void main(String[] args) throws Exception {
    var food = createCategory(categories, "Food");
    print("category %s", food.getName());
    var boat = createBoat(food.getId(), 12345678.91, "bank-1", "boat");
    print("created %s", formatAmount(boat.getAmount()));
    var retried = createBoat(food.getId(), 12345678.91, "bank-1", "boat");
    print("retried: %s", retried.getId().equals(boat.getId()) ? "the same" : "another");

    var rows = List.of(
        row("Prize", 999999999999.99, TransactionType.INCOME, "2026-04-06"),
        row("Refund", 0.01, TransactionType.EXPENSE, "2026-04-07"),
        row("Lost", 1, TransactionType.EXPENSE, "2026-04-07").categoryId(999999L));
    var bulk = ledger.createTransactions(new TransactionInputList().transactions(rows), null).getData().getResults();
    var refund = bulk.get(1);
    var lost = bulk.get(2);
    print("bulk %d %d %d %s", bulk.get(0).getStatus(), refund.getStatus(), lost.getStatus(), lost.getError().getValue());
    print("stored %s", formatAmount(ledger.readTransaction(bulk.get(0).getId(), null, null).getData().getAmount()));

    var foodId = food.getId().toString();
    var listed = ledger.listTransactions(
        TransactionType.EXPENSE, foodId, first, last, "bank-1", "march", "boat", "date", 1L, 10L, null);
    var row = listed.getData().get(0);
    print("every filter: %d of %d, %s in %s", listed.getData().size(), listed.getPagination().getTotal(),
        row.getDescription(), row.getCategoryName());
    var newest = listUncategorised(null);
    var oldest = listUncategorised(newest.getPagination().getNextCursor());
    print("uncategorised: %s, then %s, then %s", newest.getData().get(0).getDescription(),
        oldest.getData().get(0).getDescription(), oldest.getPagination().getNextCursor() == null ? "none" : "more");
    var searched = ledger.searchTransactions(
        "boat", 1.0, 99999999.99, TransactionType.EXPENSE, foodId, first, last, "-amount", 1L, 10L, null);
    print("searched: %d, expense %s", searched.getPagination().getTotal(), formatAmount(searched.getSummary().getExpense()));

    var updated = updateBoat(boat);
    print("updated %s %s", formatAmount(updated.getAmount()), updated.getNotes());
    var changes = new TransactionUpdateList().addTransactionsItem(new TransactionUpdateItem().id(refund.getId()).amount(0.02));
    print("bulk update %d", ledger.updateTransactions(changes, null).getData().getResults().get(0).getStatus());

    var months = new ServiceApi(client).listMonths(null, null, null).getData();
    print("months: %s", months.stream().map(each -> each.getMonth() + " " + formatAmount(Math.abs(each.getNet())))
        .collect(Collectors.joining(", ")));
    var byFood = readGroups("category").get(0);
    print("by category: %s %s", byFood.getName(), formatAmount(byFood.getExpense()));
    var income = readGroups("type").get(0);
    print("by type: %s %s", income.getType().getValue(), formatAmount(income.getIncome()));
    print("by month: %d", readGroups("month").size());
    var year = readGroups("year").get(0);
    print("by year: %s %d", year.getPeriod(), year.getCount());
    var series = new SummaryApi(client).readSummarySeries("category,month", null, null, null, null).getData();
    var foods = series.getGroups().get(0);
    print("series: %s, %s %s", String.join(" ", series.getMonths()), foods.getName(),
        foods.getExpense().stream().map(Scenario::formatAmount).collect(Collectors.joining(" ")));

    var part = ledger.exportTransactionsAsJson(null, null, first, last, null, null, null, null);
    var isComplete = part.getNext() == null && months.get(0).getDigest().equals(part.getDigest());
    print("export: %d, %s", part.getData().size(), isComplete ? "complete" : "incomplete");
    var file = ledger.exportTransactions("csv", null, null, null, null, null, null, null, null);
    print("file: %d lines", file.strip().split("\n").length);
    var category = categories.listCategories(true, true, null).getData().get(0);
    print("categories: %s %d", category.getName(), category.getTransactionCount());

    expectFailure(() -> createBoat(food.getId(), 0.001, null, null), each -> String.join(" ", each.getDetails().keySet()));
    expectFailure(() -> new ServiceApi(connect(null)).listMonths(null, null, null));
    expectFailure(() -> createCategory(new CategoriesApi(connect(System.getenv("READ_KEY"))), "Pay"));
    expectFailure(() -> ledger.readTransaction(999999L, null, null));
    expectFailure(() -> createCategory(categories, "Food"),
        each -> each.getExistingId().equals(food.getId()) ? "with Food" : "with another");
    expectFailure(() -> updateBoat(boat));
    expectFailure(() -> createBoat(food.getId(), 2, "bank-1", "boat"));

    var removal = new TransactionRemovalList().addTransactionsItem(new TransactionRemoval().id(refund.getId()))
        .addTransactionsItem(new TransactionRemoval().id(999999L));
    var removed = ledger.deleteTransactions(removal, null).getData().getResults();
    print("bulk delete %d %d", removed.get(0).getStatus(), removed.get(1).getStatus());
    ledger.deleteTransaction(boat.getId(), null, null);
    print("deleted");
  }
}
