// `npm run test:clients` (../run.ts) runs this program with a generated client, and compares its output with transcript.txt.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;
using System.Globalization;
using Newtonsoft.Json;
using Org.OpenAPITools.Api;
using Org.OpenAPITools.Client;
using Org.OpenAPITools.Model;

public static class Scenario
{
    static Configuration Connect(string key)
    {
        return new Configuration
        {
            BasePath = Environment.GetEnvironmentVariable("LEDGER_URL"),
            AccessToken = key ?? "",
        };
    }

    // Leaves out fields that are null: an update would clear them.
    static TransactionsApi OpenLedger()
    {
        var api = new TransactionsApi(Settings);
        ((ApiClient)api.Client).SerializerSettings.NullValueHandling = NullValueHandling.Ignore;
        return api;
    }

    static readonly Configuration Settings = Connect(Environment.GetEnvironmentVariable("LEDGER_KEY"));
    static readonly TransactionsApi Ledger = OpenLedger();
    static readonly CategoriesApi Categories = new CategoriesApi(Settings);
    static readonly DateTime First = new DateTime(2026, 3, 1);
    static readonly DateTime Last = new DateTime(2026, 3, 31);

    static string FormatAmount(double amount)
    {
        return amount.ToString("F2", CultureInfo.InvariantCulture);
    }

    static void Print(string format, params object[] values)
    {
        Console.WriteLine(string.Format(CultureInfo.InvariantCulture, format, values).Trim());
    }

    static void ExpectFailure(Action send, Func<Failure, string> describe = null)
    {
        try
        {
            send();
        }
        catch (ApiException error)
        {
            var failure = JsonConvert.DeserializeObject<Failure>((string)error.ErrorContent);
            var code = JsonConvert.SerializeObject(failure.Error).Trim('"');
            Print("{0} {1} {2}", error.ErrorCode, code, describe == null ? "" : describe(failure));
            return;
        }
        throw new Exception("An error was expected");
    }

    static TransactionInput Row(string description, double amount, TransactionType type, int month, int day, long? categoryId = null)
    {
        return new TransactionInput(description, amount, type, categoryId, new DateTime(2026, month, day));
    }

    static Transaction CreateBoat(long foodId, double amount, string externalId, string key)
    {
        var date = new DateTime(2026, 3, 5);
        var boat = new TransactionInput("Boat", amount, TransactionType.Expense, foodId, date, "Blue", externalId, "march");
        return Ledger.CreateTransaction(boat, key).Data;
    }

    static TransactionPage ListUncategorised(string after = null)
    {
        return Ledger.ListTransactions(categoryId: "none", sort: "-date", perPage: 1, after: after);
    }

    static List<SummaryGroup> ReadGroups(string by)
    {
        return new SummaryApi(Settings).ReadSummary(by).Data.Groups;
    }

    static Transaction UpdateBoat(Transaction boat)
    {
        var changes = new TransactionUpdate(amount: 12345678.92, notes: "Red");
        return Ledger.UpdateTransaction(boat.Id, changes, boat.Etag).Data;
    }

    static Category CreateCategory(CategoriesApi api, string name)
    {
        return api.CreateCategory(new CategoryInput(name, isActive: true)).Data;
    }

    public static void Main()
    {
        // Only the global configuration formats the dates of a query.
        GlobalConfiguration.Instance = new Configuration { DateTimeFormat = "yyyy-MM-dd" };
        var food = CreateCategory(Categories, "Food");
        Print("category {0}", food.Name);
        var boat = CreateBoat(food.Id, 12345678.91, "bank-1", "boat");
        Print("created {0}", FormatAmount(boat.Amount));
        var retried = CreateBoat(food.Id, 12345678.91, "bank-1", "boat");
        Print("retried: {0}", retried.Id == boat.Id ? "the same" : "another");

        var rows = new List<TransactionInput>
        {
            Row("Prize", 999999999999.99, TransactionType.Income, 4, 6),
            Row("Refund", 0.01, TransactionType.Expense, 4, 7),
            Row("Lost", 1, TransactionType.Expense, 4, 7, 999999),
        };
        var bulk = Ledger.CreateTransactions(new TransactionInputList(rows)).Data.Results;
        var lost = JsonConvert.SerializeObject(bulk[2].Error).Trim('"');
        Print("bulk {0} {1} {2} {3}", bulk[0].Status, bulk[1].Status, bulk[2].Status, lost);
        Print("stored {0}", FormatAmount(Ledger.ReadTransaction(bulk[0].Id).Data.Amount));

        var foodId = food.Id.ToString();
        var listed = Ledger.ListTransactions(
            TransactionType.Expense, foodId, First, Last, "bank-1", "march", "boat", "date", 1, 10);
        var row = listed.Data[0];
        Print("every filter: {0} of {1}, {2} in {3}", listed.Data.Count, listed.Pagination.Total, row.Description, row.CategoryName);
        var newest = ListUncategorised();
        var oldest = ListUncategorised(newest.Pagination.NextCursor);
        Print("uncategorised: {0}, then {1}, then {2}", newest.Data[0].Description, oldest.Data[0].Description,
            oldest.Pagination.NextCursor ?? "none");
        var searched = Ledger.SearchTransactions(
            "boat", 1, 99999999.99, TransactionType.Expense, foodId, First, Last, "-amount", 1, 10);
        Print("searched: {0}, expense {1}", searched.Pagination.Total, FormatAmount(searched.Summary.Expense));

        var updated = UpdateBoat(boat);
        Print("updated {0} {1}", FormatAmount(updated.Amount), updated.Notes);
        var change = new TransactionUpdateItem(bulk[1].Id, amount: 0.02);
        var changes = new TransactionUpdateList(new List<TransactionUpdateItem> { change });
        Print("bulk update {0}", Ledger.UpdateTransactions(changes).Data.Results[0].Status);

        var months = new ServiceApi(Settings).ListMonths().Data;
        Print("months: {0}", string.Join(", ", months.Select(each => each.VarMonth + " " + FormatAmount(Math.Abs(each.Net)))));
        var byFood = ReadGroups("category")[0];
        Print("by category: {0} {1}", byFood.Name, FormatAmount(byFood.Expense));
        var income = ReadGroups("type")[0];
        Print("by type: {0} {1}", JsonConvert.SerializeObject(income.Type).Trim('"'), FormatAmount(income.Income));
        Print("by month: {0}", ReadGroups("month").Count);
        var year = ReadGroups("year")[0];
        Print("by year: {0} {1}", year.Period, year.Count);
        var series = new SummaryApi(Settings).ReadSummarySeries("category,month").Data;
        var foods = series.Groups[0];
        Print("series: {0}, {1} {2}", string.Join(" ", series.Months), foods.Name, string.Join(" ", foods.Expense.Select(FormatAmount)));

        var part = Ledger.ExportTransactionsAsJson(startDate: First, endDate: Last);
        var isComplete = part.Next == null && part.Digest == months[0].Digest;
        Print("export: {0}, {1}", part.Data.Count, isComplete ? "complete" : "incomplete");
        var file = Ledger.ExportTransactions("csv");
        Print("file: {0} lines", file.Trim().Split('\n').Length);
        var category = Categories.ListCategories(true, true).Data[0];
        Print("categories: {0} {1}", category.Name, category.TransactionCount);

        ExpectFailure(() => CreateBoat(food.Id, 0.001, null, null), each => string.Join(" ", each.Details.Keys));
        ExpectFailure(() => new ServiceApi(Connect(null)).ListMonths());
        var reader = new CategoriesApi(Connect(Environment.GetEnvironmentVariable("READ_KEY")));
        ExpectFailure(() => CreateCategory(reader, "Pay"));
        ExpectFailure(() => Ledger.ReadTransaction(999999));
        ExpectFailure(() => CreateCategory(Categories, "Food"),
            each => each.ExistingId == food.Id ? "with Food" : "with another");
        ExpectFailure(() => UpdateBoat(boat));
        ExpectFailure(() => CreateBoat(food.Id, 2, "bank-1", "boat"));

        var removals = new List<TransactionRemoval> { new TransactionRemoval(bulk[1].Id), new TransactionRemoval(999999) };
        var removed = Ledger.DeleteTransactions(new TransactionRemovalList(removals)).Data.Results;
        Print("bulk delete {0} {1}", removed[0].Status, removed[1].Status);
        Ledger.DeleteTransaction(boat.Id);
        Print("deleted");
        // Mono stops the threads of idle connections at a regular exit, and can crash then (mono/mono issue 10832).
        Console.Out.Flush();
        ExitAtOnce(0);
    }

    [DllImport("libc", EntryPoint = "_exit")]
    static extern void ExitAtOnce(int status);
}
