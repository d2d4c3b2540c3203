// `npm run test:clients` (../run.ts) runs this program with a generated client, and compares its output with transcript.txt.
import java.time.LocalDate
import kotlin.math.abs
import org.openapitools.client.apis.*
import org.openapitools.client.infrastructure.*
import org.openapitools.client.models.*

val url: String = System.getenv("LEDGER_URL")
val ledger = TransactionsApi(url)
val categories = CategoriesApi(url)
val service = ServiceApi(url)
val sums = SummaryApi(url)
val first: LocalDate = LocalDate.parse("2026-03-01")
val last: LocalDate = LocalDate.parse("2026-03-31")

/** Uses this key until `send` ends, because all clients of a program share one key. */
fun <Result> withKey(name: String?, send: () -> Result): Result {
    val previousKey = ApiClient.accessToken
    ApiClient.accessToken = name?.let(System::getenv)
    try {
        return send()
    } finally {
        ApiClient.accessToken = previousKey
    }
}

fun formatAmount(amount: Double) = "%.2f".format(amount)

fun expectFailure(describe: (Failure) -> String = { "" }, send: () -> Unit) {
    try {
        send()
    } catch (error: ClientException) {
        val body = (error.response as ClientError<*>).body as String
        val failure = Serializer.moshi.adapter(Failure::class.java).fromJson(body)!!
        println("${error.statusCode} ${failure.error.value} ${describe(failure)}".trim())
        return
    }
    throw AssertionError("An error was expected")
}

fun row(description: String, amount: Double, type: TransactionType, date: String, categoryId: Long? = null) =
    TransactionInput(description, amount, type, categoryId = categoryId, transactionDate = LocalDate.parse(date))

fun createBoat(foodId: Long, amount: Double, externalId: String? = null, key: String? = null): Transaction {
    val boat = row("Boat", amount, TransactionType.expense, "2026-03-05", foodId)
    return ledger.createTransaction(boat.copy(notes = "Blue", externalId = externalId, importId = "march"), key).data
}

fun listUncategorised(after: String? = null) = ledger.listTransactions(
    categoryId = "none", sort = TransactionsApi.SortListTransactions.MinusDate, perPage = 1, after = after,
)

fun readGroups(by: SummaryApi.GroupByReadSummary) = sums.readSummary(by).data.groups

fun updateBoat(boat: Transaction): Transaction {
    val changes = TransactionUpdate(amount = 12345678.92, notes = "Red")
    return ledger.updateTransaction(boat.id, changes, boat.etag).data
}

fun createCategory(name: String) = categories.createCategory(CategoryInput(name)).data

/** The generated client cannot read `text/csv`. */
fun readFile(): String {
    val request = java.net.http.HttpRequest.newBuilder(java.net.URI("$url/transactions/export?format=csv"))
        .header("Authorization", "Bearer ${System.getenv("LEDGER_KEY")}").build()
    val client = java.net.http.HttpClient.newHttpClient()
    return client.send(request, java.net.http.HttpResponse.BodyHandlers.ofString()).body()
}

fun main() = withKey("LEDGER_KEY") {
    val food = createCategory("Food")
    println("category ${food.name}")
    val boat = createBoat(food.id, 12345678.91, "bank-1", "boat")
    println("created ${formatAmount(boat.amount)}")
    val retried = createBoat(food.id, 12345678.91, "bank-1", "boat")
    println("retried: ${if (retried.id == boat.id) "the same" else "another"}")

    val rows = listOf(
        row("Prize", 999999999999.99, TransactionType.income, "2026-04-06"),
        row("Refund", 0.01, TransactionType.expense, "2026-04-07"),
        row("Lost", 1.0, TransactionType.expense, "2026-04-07", 999999),
    )
    val (prize, refund, lost) = ledger.createTransactions(TransactionInputList(rows)).data.results
    println("bulk ${prize.status} ${refund.status} ${lost.status} ${lost.error!!.value}")
    println("stored ${formatAmount(ledger.readTransaction(prize.id!!).data.amount)}")

    val foodId = food.id.toString()
    val listed = ledger.listTransactions(
        TransactionType.expense, foodId, first, last, "bank-1", "march", "boat",
        TransactionsApi.SortListTransactions.date, 1, 10,
    )
    val row = listed.data[0]
    println("every filter: ${listed.data.size} of ${listed.pagination.total}, ${row.description} in ${row.categoryName}")
    val newest = listUncategorised()
    val oldest = listUncategorised(newest.pagination.nextCursor)
    val end = oldest.pagination.nextCursor ?: "none"
    println("uncategorised: ${newest.data[0].description}, then ${oldest.data[0].description}, then $end")
    val searched = ledger.searchTransactions(
        "boat", 1.0, 99999999.99, TransactionType.expense, foodId, first, last,
        TransactionsApi.SortSearchTransactions.MinusAmount, 1, 10,
    )
    println("searched: ${searched.pagination.total}, expense ${formatAmount(searched.summary.expense)}")

    val updated = updateBoat(boat)
    println("updated ${formatAmount(updated.amount)} ${updated.notes}")
    val changes = TransactionUpdateList(listOf(TransactionUpdateItem(refund.id!!, amount = 0.02)))
    println("bulk update ${ledger.updateTransactions(changes).data.results[0].status}")

    val months = service.listMonths().data
    println("months: ${months.joinToString { "${it.month} ${formatAmount(abs(it.net))}" }}")
    val byFood = readGroups(SummaryApi.GroupByReadSummary.category)[0]
    println("by category: ${byFood.name} ${formatAmount(byFood.expense)}")
    val income = readGroups(SummaryApi.GroupByReadSummary.type)[0]
    println("by type: ${income.type!!.value} ${formatAmount(income.income)}")
    println("by month: ${readGroups(SummaryApi.GroupByReadSummary.month).size}")
    val year = readGroups(SummaryApi.GroupByReadSummary.year)[0]
    println("by year: ${year.period} ${year.count}")
    val series = sums.readSummarySeries(SummaryApi.GroupByReadSummarySeries.categoryCommaMonth).data
    val foods = series.groups[0]
    println("series: ${series.months!!.joinToString(" ")}, ${foods.name} ${foods.expense.joinToString(" ", transform = ::formatAmount)}")

    val part = ledger.exportTransactionsAsJson(startDate = first, endDate = last)
    val isComplete = part.next == null && part.digest == months[0].digest
    println("export: ${part.data.size}, ${if (isComplete) "complete" else "incomplete"}")
    println("file: ${readFile().trim().lines().size} lines")
    val category = categories.listCategories(true, true).data[0]
    println("categories: ${category.name} ${category.transactionCount}")

    expectFailure({ it.details!!.keys.joinToString(" ") }) { createBoat(food.id, 0.001) }
    expectFailure { withKey(null) { service.listMonths() } }
    expectFailure { withKey("READ_KEY") { createCategory("Pay") } }
    expectFailure { ledger.readTransaction(999999) }
    expectFailure({ if (it.existingId == food.id) "with Food" else "with another" }) { createCategory("Food") }
    expectFailure { updateBoat(boat) }
    expectFailure { createBoat(food.id, 2.0, "bank-1", "boat") }

    val removals = TransactionRemovalList(listOf(TransactionRemoval(refund.id!!), TransactionRemoval(999999)))
    val removed = ledger.deleteTransactions(removals).data.results
    println("bulk delete ${removed[0].status} ${removed[1].status}")
    ledger.deleteTransaction(boat.id)
    println("deleted")
}
