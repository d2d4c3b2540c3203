// `npm run test:clients` (../run.ts) runs this program with a generated client, and compares its output with transcript.txt.

package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"strings"

	. "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func authorize(key string) context.Context {
	return context.WithValue(context.Background(), ContextAccessToken, os.Getenv(key))
}

func must[Data any](data Data, _ *http.Response, err error) Data {
	if err != nil {
		panic(err)
	}
	return data
}

func choose(isFirst bool, first, second string) string {
	if isFirst {
		return first
	}
	return second
}

func expectFailure[Data any](describe func(Failure) string) func(Data, *http.Response, error) {
	return func(_ Data, response *http.Response, err error) {
		failure := err.(*GenericOpenAPIError).Model().(Failure)
		line := fmt.Sprintf("%d %s %s", response.StatusCode, failure.Error, describe(failure))
		fmt.Println(strings.TrimSpace(line))
	}
}

func nothing(Failure) string { return "" }

func row(description string, amount float64, kind TransactionType, date string) TransactionInput {
	input := *NewTransactionInput(description, amount, kind)
	input.SetTransactionDate(date)
	return input
}

func boatInput(food Category, amount float64) TransactionInput {
	boat := row("Boat", amount, "expense", "2026-03-05")
	boat.SetCategoryId(food.Id)
	boat.SetNotes("Blue")
	boat.SetExternalId("bank-1")
	boat.SetImportId("march")
	return boat
}

func main() {
	settings := NewConfiguration()
	settings.Servers = ServerConfigurations{{URL: os.Getenv("LEDGER_URL")}}
	client := NewAPIClient(settings)
	ledger, categories, ctx := client.TransactionsAPI, client.CategoriesAPI, authorize("LEDGER_KEY")

	food := must(categories.CreateCategory(ctx).CategoryInput(*NewCategoryInput("Food")).Execute()).Data
	fmt.Println("category", food.Name)
	createOnce := func(amount float64) ApiCreateTransactionRequest {
		return ledger.CreateTransaction(ctx).TransactionInput(boatInput(food, amount)).IdempotencyKey("boat")
	}
	boat := must(createOnce(12345678.91).Execute()).Data
	fmt.Printf("created %.2f\n", boat.Amount)
	retried := must(createOnce(12345678.91).Execute()).Data
	fmt.Println("retried:", choose(retried.Id == boat.Id, "the same", "another"))

	lostInput := row("Lost", 1, "expense", "2026-04-07")
	lostInput.SetCategoryId(999999)
	rows := *NewTransactionInputList([]TransactionInput{
		row("Prize", 999999999999.99, "income", "2026-04-06"), row("Refund", 0.01, "expense", "2026-04-07"), lostInput,
	})
	bulk := must(ledger.CreateTransactions(ctx).TransactionInputList(rows).Execute()).Data.Results
	refund := bulk[1].GetId()
	fmt.Println("bulk", bulk[0].Status, bulk[1].Status, bulk[2].Status, bulk[2].GetError())
	fmt.Printf("stored %.2f\n", must(ledger.ReadTransaction(ctx, bulk[0].GetId()).Execute()).Data.Amount)

	foodId := fmt.Sprint(food.Id)
	listed := must(ledger.ListTransactions(ctx).Type_("expense").CategoryId(foodId).StartDate("2026-03-01").EndDate("2026-03-31").
		ExternalId("bank-1").ImportId("march").Q("boat").Sort("date").Page(1).PerPage(10).Execute())
	fmt.Printf("every filter: %d of %d, %s in %s\n", len(listed.Data), listed.Pagination.Total,
		listed.Data[0].Description, listed.Data[0].GetCategoryName())
	uncategorised := ledger.ListTransactions(ctx).CategoryId("none").Sort("-date").PerPage(1)
	newest := must(uncategorised.Execute())
	oldest := must(uncategorised.After(newest.Pagination.GetNextCursor()).Execute())
	fmt.Printf("uncategorised: %s, then %s, then %s\n", newest.Data[0].Description, oldest.Data[0].Description,
		choose(oldest.Pagination.GetNextCursor() == "", "none", "more"))
	searched := must(ledger.SearchTransactions(ctx).Q("boat").MinAmount(1).MaxAmount(99999999.99).Type_("expense").CategoryId(foodId).
		StartDate("2026-03-01").EndDate("2026-03-31").Sort("-amount").Page(1).PerPage(10).Execute())
	fmt.Printf("searched: %d, expense %.2f\n", searched.Pagination.Total, searched.Summary.Expense)

	changes := *NewTransactionUpdate()
	changes.SetAmount(12345678.92)
	changes.SetNotes("Red")
	update := ledger.UpdateTransaction(ctx, boat.Id).TransactionUpdate(changes).IfMatch(boat.Etag)
	updated := must(update.Execute()).Data
	fmt.Printf("updated %.2f %s\n", updated.Amount, updated.GetNotes())
	item := *NewTransactionUpdateItem(refund)
	item.SetAmount(0.02)
	items := *NewTransactionUpdateList([]TransactionUpdateItem{item})
	fmt.Println("bulk update", must(ledger.UpdateTransactions(ctx).TransactionUpdateList(items).Execute()).Data.Results[0].Status)

	months := must(client.ServiceAPI.ListMonths(ctx).Execute()).Data
	fmt.Printf("months: %s %.2f, %s %.2f\n", months[0].Month, math.Abs(months[0].Net), months[1].Month, months[1].Net)
	readGroups := func(by string) []SummaryGroup {
		return must(client.SummaryAPI.ReadSummary(ctx).GroupBy(by).Execute()).Data.Groups
	}
	byFood, income, year := readGroups("category")[0], readGroups("type")[0], readGroups("year")[0]
	fmt.Printf("by category: %s %.2f\n", byFood.GetName(), byFood.Expense)
	fmt.Printf("by type: %s %.2f\n", income.GetType(), income.Income)
	fmt.Println("by month:", len(readGroups("month")))
	fmt.Println("by year:", year.GetPeriod(), year.Count)
	series := must(client.SummaryAPI.ReadSummarySeries(ctx).GroupBy("category,month").Execute()).Data
	foods := series.Groups[0]
	fmt.Printf("series: %s, %s %.2f %.2f\n", strings.Join(series.Months, " "), foods.GetName(), foods.Expense[0], foods.Expense[1])

	part := must(ledger.ExportTransactionsAsJson(ctx).StartDate("2026-03-01").EndDate("2026-03-31").Execute())
	isComplete := part.GetNext() == "" && part.GetDigest() == months[0].GetDigest()
	fmt.Printf("export: %d, %s\n", len(part.Data), choose(isComplete, "complete", "incomplete"))
	file := must(ledger.ExportTransactions(ctx).Format("csv").Execute())
	fmt.Println("file:", strings.Count(file, "\n"), "lines")
	category := must(categories.ListCategories(ctx).ActiveOnly(true).IncludeCounts(true).Execute()).Data[0]
	fmt.Println("categories:", category.Name, category.GetTransactionCount())

	invalid := boatInput(food, 0.001)
	invalid.UnsetExternalId()
	expectFailure[*TransactionWritten](func(failure Failure) string {
		for field := range failure.GetDetails() {
			return field
		}
		return ""
	})(ledger.CreateTransaction(ctx).TransactionInput(invalid).Execute())
	expectFailure[*Months](nothing)(client.ServiceAPI.ListMonths(context.Background()).Execute())
	expectFailure[*CategoryWritten](nothing)(categories.CreateCategory(authorize("READ_KEY")).CategoryInput(*NewCategoryInput("Pay")).Execute())
	expectFailure[*TransactionRead](nothing)(ledger.ReadTransaction(ctx, 999999).Execute())
	expectFailure[*CategoryWritten](func(failure Failure) string {
		return choose(failure.GetExistingId() == food.Id, "with Food", "with another")
	})(categories.CreateCategory(ctx).CategoryInput(*NewCategoryInput("Food")).Execute())
	expectFailure[*TransactionWritten](nothing)(update.Execute())
	expectFailure[*TransactionWritten](nothing)(createOnce(2).Execute())

	removal := *NewTransactionRemovalList([]TransactionRemoval{*NewTransactionRemoval(refund), *NewTransactionRemoval(999999)})
	removed := must(ledger.DeleteTransactions(ctx).TransactionRemovalList(removal).Execute()).Data.Results
	fmt.Println("bulk delete", removed[0].Status, removed[1].Status)
	must(ledger.DeleteTransaction(ctx, boat.Id).Execute())
	fmt.Println("deleted")
}
