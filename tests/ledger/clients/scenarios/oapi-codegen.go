// `npm run test:clients` (../run.ts) runs this program with a generated client, and compares its output with transcript.txt.

package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"strings"
	"time"

	openapi_types "github.com/oapi-codegen/runtime/types"
)

var ctx = context.Background()

func connect(key string) *ClientWithResponses {
	authorize := func(_ context.Context, request *http.Request) error {
		if key != "" {
			request.Header.Set("Authorization", "Bearer "+key)
		}
		return nil
	}
	ledger, err := NewClientWithResponses(os.Getenv("LEDGER_URL"), WithRequestEditorFn(authorize))
	must(err)
	return ledger
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func pointer[Value any](value Value) *Value { return &value }

func day(text string) *openapi_types.Date {
	parsed, err := time.Parse(time.DateOnly, text)
	must(err)
	return &openapi_types.Date{Time: parsed}
}

// A response that has a status.
type statusResponse interface {
	StatusCode() int
}

func expect[Response statusResponse](status int) func(Response, error) Response {
	return func(response Response, err error) Response {
		must(err)
		if response.StatusCode() != status {
			panic(fmt.Sprintf("%d: %+v", response.StatusCode(), response))
		}
		return response
	}
}

func printFailure(status int, failure *Failure, word string) {
	fmt.Println(strings.TrimSpace(fmt.Sprintf("%d %s %s", status, failure.Error, word)))
}

func choose(isFirst bool, first, second string) string {
	if isFirst {
		return first
	}
	return second
}

func main() {
	ledger := connect(os.Getenv("LEDGER_KEY"))
	createdCategory := expect[*CreateCategoryResponse](201)
	createdTransaction := expect[*CreateTransactionResponse](201)

	food := createdCategory(ledger.CreateCategoryWithResponse(ctx, nil, CategoryInput{Name: "Food"})).JSON201.Data
	fmt.Println("category", food.Name)

	boatInput := func(amount float64) TransactionInput {
		return TransactionInput{
			Description: "Boat", Amount: amount, Type: "expense", CategoryId: &food.Id, TransactionDate: day("2026-03-05"),
			Notes: pointer("Blue"), ExternalId: pointer("bank-1"), ImportId: pointer("march"),
		}
	}
	idempotent := &CreateTransactionParams{IdempotencyKey: pointer("boat")}
	boat := createdTransaction(ledger.CreateTransactionWithResponse(ctx, idempotent, boatInput(12345678.91))).JSON201.Data
	fmt.Printf("created %.2f\n", boat.Amount)
	retried := createdTransaction(ledger.CreateTransactionWithResponse(ctx, idempotent, boatInput(12345678.91))).JSON201.Data
	fmt.Println("retried:", choose(retried.Id == boat.Id, "the same", "another"))

	bulk := expect[*CreateTransactionsResponse](207)(ledger.CreateTransactionsWithResponse(ctx, nil, TransactionInputList{
		Transactions: []TransactionInput{
			{Description: "Prize", Amount: 999999999999.99, Type: "income", TransactionDate: day("2026-04-06")},
			{Description: "Refund", Amount: 0.01, Type: "expense", TransactionDate: day("2026-04-07")},
			{Description: "Lost", Amount: 1, Type: "expense", CategoryId: pointer(int64(999999))},
		},
	})).JSON207.Data.Results
	prize, refund, lost := bulk[0], bulk[1], bulk[2]
	fmt.Println("bulk", prize.Status, refund.Status, lost.Status, *lost.Error)
	storedPrize := expect[*ReadTransactionResponse](200)(ledger.ReadTransactionWithResponse(ctx, *prize.Id, nil)).JSON200.Data
	fmt.Printf("stored %.2f\n", storedPrize.Amount)

	list := func(filters ListTransactionsParams) *TransactionPage {
		return expect[*ListTransactionsResponse](200)(ledger.ListTransactionsWithResponse(ctx, &filters)).JSON200
	}
	expense, foodId := TransactionType("expense"), fmt.Sprint(food.Id)
	first, last := day("2026-03-01"), day("2026-03-31")
	listed := list(ListTransactionsParams{
		Type: &expense, CategoryId: &foodId, StartDate: first, EndDate: last, ExternalId: pointer("bank-1"),
		ImportId: pointer("march"), Q: pointer("boat"), Sort: pointer(ListTransactionsParamsSortDate),
		Page: pointer(int64(1)), PerPage: pointer(int64(10)),
	})
	fmt.Printf("every filter: %d of %d, %s in %s\n", len(listed.Data), listed.Pagination.Total,
		listed.Data[0].Description, *listed.Data[0].CategoryName)
	uncategorised := ListTransactionsParams{
		CategoryId: pointer("none"), Sort: pointer(ListTransactionsParamsSortMinusDate), PerPage: pointer(int64(1)),
	}
	newest := list(uncategorised)
	uncategorised.After = newest.Pagination.NextCursor
	oldest := list(uncategorised)
	fmt.Printf("uncategorised: %s, then %s, then %s\n", newest.Data[0].Description, oldest.Data[0].Description,
		choose(oldest.Pagination.NextCursor == nil, "none", "more"))
	searched := expect[*SearchTransactionsResponse](200)(ledger.SearchTransactionsWithResponse(ctx, &SearchTransactionsParams{
		Q: pointer("boat"), MinAmount: pointer(1.0), MaxAmount: pointer(99999999.99), Type: &expense, CategoryId: &foodId,
		StartDate: first, EndDate: last, Sort: pointer(SearchTransactionsParamsSortMinusAmount),
		Page: pointer(int64(1)), PerPage: pointer(int64(10)),
	})).JSON200
	fmt.Printf("searched: %d, expense %.2f\n", searched.Pagination.Total, searched.Summary.Expense)

	ifMatch := &UpdateTransactionParams{IfMatch: &boat.Etag}
	changes := TransactionUpdate{Amount: pointer(12345678.92), Notes: pointer("Red")}
	updated := expect[*UpdateTransactionResponse](200)(ledger.UpdateTransactionWithResponse(ctx, boat.Id, ifMatch, changes)).JSON200.Data
	fmt.Printf("updated %.2f %s\n", updated.Amount, *updated.Notes)
	bulkUpdate := expect[*UpdateTransactionsResponse](207)(ledger.UpdateTransactionsWithResponse(ctx, nil, TransactionUpdateList{
		Transactions: []TransactionUpdateItem{{Id: *refund.Id, Amount: pointer(0.02)}},
	})).JSON207.Data
	fmt.Println("bulk update", bulkUpdate.Results[0].Status)

	months := expect[*ListMonthsResponse](200)(ledger.ListMonthsWithResponse(ctx, nil)).JSON200.Data
	fmt.Printf("months: %s %.2f, %s %.2f\n", months[0].Month, math.Abs(months[0].Net), months[1].Month, months[1].Net)
	readGroups := func(by ReadSummaryParamsGroupBy) []SummaryGroup {
		params := &ReadSummaryParams{GroupBy: by}
		return expect[*ReadSummaryResponse](200)(ledger.ReadSummaryWithResponse(ctx, params)).JSON200.Data.Groups
	}
	byFood, income, year := readGroups("category")[0], readGroups("type")[0], readGroups("year")[0]
	fmt.Printf("by category: %s %.2f\n", *byFood.Name, byFood.Expense)
	fmt.Printf("by type: %s %.2f\n", *income.Type, income.Income)
	fmt.Println("by month:", len(readGroups("month")))
	fmt.Println("by year:", *year.Period, year.Count)
	series := expect[*ReadSummarySeriesResponse](200)(ledger.ReadSummarySeriesWithResponse(ctx,
		&ReadSummarySeriesParams{GroupBy: Categorymonth})).JSON200.Data
	foods := series.Groups[0]
	fmt.Printf("series: %s, %s %.2f %.2f\n", strings.Join(*series.Months, " "), *foods.Name, foods.Expense[0], foods.Expense[1])

	part := expect[*ExportTransactionsAsJsonResponse](200)(ledger.ExportTransactionsAsJsonWithResponse(ctx,
		&ExportTransactionsAsJsonParams{StartDate: first, EndDate: last})).JSON200
	isComplete := part.Next == nil && *part.Digest == *months[0].Digest
	fmt.Printf("export: %d, %s\n", len(part.Data), choose(isComplete, "complete", "incomplete"))
	file := expect[*ExportTransactionsResponse](200)(ledger.ExportTransactionsWithResponse(ctx,
		&ExportTransactionsParams{Format: "csv"})).Body
	fmt.Println("file:", strings.Count(string(file), "\n"), "lines")
	category := expect[*ListCategoriesResponse](200)(ledger.ListCategoriesWithResponse(ctx,
		&ListCategoriesParams{ActiveOnly: pointer(true), IncludeCounts: pointer(true)})).JSON200.Data[0]
	fmt.Println("categories:", category.Name, *category.TransactionCount)

	invalidInput := boatInput(0.001)
	invalidInput.ExternalId = nil
	invalid := expect[*CreateTransactionResponse](400)(ledger.CreateTransactionWithResponse(ctx, nil, invalidInput)).JSON400
	for field := range *invalid.Details {
		printFailure(400, invalid, field)
	}
	printFailure(401, expect[*ListMonthsResponse](401)(connect("").ListMonthsWithResponse(ctx, nil)).JSON401, "")
	reader := connect(os.Getenv("READ_KEY"))
	printFailure(403, expect[*CreateCategoryResponse](403)(reader.CreateCategoryWithResponse(ctx, nil, CategoryInput{Name: "Pay"})).JSON403, "")
	printFailure(404, expect[*ReadTransactionResponse](404)(ledger.ReadTransactionWithResponse(ctx, 999999, nil)).JSON404, "")
	taken := expect[*CreateCategoryResponse](409)(ledger.CreateCategoryWithResponse(ctx, nil, CategoryInput{Name: "Food"})).JSON409
	printFailure(409, taken, choose(*taken.ExistingId == food.Id, "with Food", "with another"))
	printFailure(412, expect[*UpdateTransactionResponse](412)(ledger.UpdateTransactionWithResponse(ctx, boat.Id, ifMatch, changes)).JSON412, "")
	printFailure(422, expect[*CreateTransactionResponse](422)(ledger.CreateTransactionWithResponse(ctx, idempotent, boatInput(2))).JSON422, "")

	removed := expect[*DeleteTransactionsResponse](207)(ledger.DeleteTransactionsWithResponse(ctx, nil, TransactionRemovalList{
		Transactions: []TransactionRemoval{{Id: *refund.Id}, {Id: 999999}},
	})).JSON207.Data.Results
	fmt.Println("bulk delete", removed[0].Status, removed[1].Status)
	expect[*DeleteTransactionResponse](200)(ledger.DeleteTransactionWithResponse(ctx, boat.Id, nil))
	fmt.Println("deleted")
}
