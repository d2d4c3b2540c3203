// Written by `npm run describe`.
export type TransactionType = "income" | "expense";
export type Transaction = {
    id: number;
    description: string;
    /** At most 2 decimals. */
    amount: number;
    "type": TransactionType;
    category_id: number | null;
    transaction_date: string;
    notes: string | null;
    created_at: string;
    updated_at: string;
    /** The value for `If-Match`, with its quotes. */
    etag: string;
    category_name?: string;
    external_id?: string;
    /** The id of the import that created the transaction. */
    import_id?: string;
};
export type Pagination = {
    /** Null with `after`. */
    page: number | null;
    per_page: number;
    total: number;
    pages: number;
    has_next: boolean;
    has_prev: boolean;
    /** Send it as `after` to get the next page; null at the end. */
    next_cursor: string | null;
};
export type TransactionPage = {
    /** Always true. */
    success: boolean;
    data: Transaction[];
    pagination: Pagination;
};
export type ErrorCode = "validation_failed" | "unauthenticated" | "forbidden" | "not_found" | "method_not_allowed" | "conflict" | "payload_too_large" | "unsupported_media_type" | "precondition_failed" | "idempotency_key_reused" | "internal_server_error" | "unavailable";
export type FieldErrors = {
    [key: string]: string[];
};
export type Failure = {
    /** Always false. */
    success: boolean;
    error: ErrorCode;
    message: string;
    details?: FieldErrors;
    /** The id of the record that has the `external_id` or the name. */
    existing_id?: number;
};
export type GatewayFailure = {
    message: string;
    success?: boolean;
    error?: ErrorCode;
};
export type TransactionInput = {
    description: string;
    /** At most 2 decimals. */
    amount: number;
    "type": TransactionType;
    category_id?: number | null;
    transaction_date?: string;
    notes?: string | null;
    external_id?: string | null;
    import_id?: string | null;
};
export type TransactionInputRead = {
    /** Ignored. */
    id?: number;
    /** Ignored. */
    created_at?: string;
    /** Ignored. */
    updated_at?: string;
    /** Ignored. */
    etag?: string;
    /** Ignored if `category_id` is sent, which assigns a category. Otherwise only the current name or null is accepted. */
    category_name?: string;
    description: string;
    /** At most 2 decimals. */
    amount: number;
    "type": TransactionType;
    category_id?: number | null;
    transaction_date?: string;
    notes?: string | null;
    external_id?: string | null;
    import_id?: string | null;
};
export type TransactionWritten = {
    /** Always true. */
    success: boolean;
    data: Transaction;
    message: string;
};
export type TransactionInputList = {
    transactions: TransactionInput[];
};
export type TransactionInputListRead = {
    transactions: TransactionInputRead[];
};
export type TransactionResult = {
    /** The position of the transaction in the request. */
    index: number;
    /** The status that a request for this transaction alone would get. */
    status: number;
    /** The id of the transaction, if `status` is below 400. */
    id?: number;
    /** The version of the transaction, also if `status` is 412. */
    etag?: string;
    error?: ErrorCode;
    /** The reason, if `status` is 400 or above. */
    message?: string;
    details?: FieldErrors;
    /** The id of the transaction that has the `external_id`. */
    existing_id?: number;
};
export type CreationResults = {
    created: number;
    duplicates: number;
    failed: number;
    results: TransactionResult[];
};
export type TransactionsCreated = {
    /** Always true. */
    success: boolean;
    data: CreationResults;
};
export type TransactionUpdateItem = {
    id: number;
    description?: string;
    /** At most 2 decimals. */
    amount?: number;
    "type"?: TransactionType;
    category_id?: number | null;
    transaction_date?: string;
    notes?: string | null;
    external_id?: string | null;
    /** Like the header If-Match, for this item. */
    if_match?: string;
};
export type TransactionUpdateItemRead = {
    id: number;
    /** Ignored. */
    created_at?: string;
    /** Ignored. */
    updated_at?: string;
    /** Ignored. */
    etag?: string;
    /** Ignored if `category_id` is sent, which assigns a category. Otherwise only the current name or null is accepted. */
    category_name?: string;
    description?: string;
    /** At most 2 decimals. */
    amount?: number;
    "type"?: TransactionType;
    category_id?: number | null;
    transaction_date?: string;
    notes?: string | null;
    external_id?: string | null;
    /** Ignored. */
    import_id?: string | null;
    /** Like the header If-Match, for this item. */
    if_match?: string;
};
export type TransactionUpdateList = {
    transactions: TransactionUpdateItem[];
};
export type TransactionUpdateListRead = {
    transactions: TransactionUpdateItemRead[];
};
export type UpdateResults = {
    updated: number;
    failed: number;
    results: TransactionResult[];
};
export type TransactionsUpdated = {
    /** Always true. */
    success: boolean;
    data: UpdateResults;
};
export type TransactionRemoval = {
    id: number;
    /** Like the header If-Match, for this item. */
    if_match?: string;
};
export type TransactionRemovalRead = {
    id: number;
    /** Ignored. */
    created_at?: string;
    /** Ignored. */
    updated_at?: string;
    /** Ignored. */
    etag?: string;
    /** Ignored if `category_id` is sent, which assigns a category. Otherwise only the current name or null is accepted. */
    category_name?: string;
    /** Ignored. */
    import_id?: string | null;
    /** Like the header If-Match, for this item. */
    if_match?: string;
};
export type TransactionRemovalList = {
    transactions: TransactionRemoval[];
};
export type TransactionRemovalListRead = {
    transactions: TransactionRemovalRead[];
};
export type DeletionResults = {
    deleted: number;
    failed: number;
    results: TransactionResult[];
};
export type TransactionsDeleted = {
    /** Always true. */
    success: boolean;
    data: DeletionResults;
};
export type TransactionsFile = string;
export type TransactionsPart = {
    /** Always true. */
    success: boolean;
    data: Transaction[];
    /** The query of the next part. */
    next: string | null;
    /** Digest of all parts of a month; only in the last part of an export of exactly one month. */
    digest?: string | null;
};
export type Totals = {
    /** At most 2 decimals. */
    income: number;
    /** At most 2 decimals. */
    expense: number;
    /** At most 2 decimals. */
    net: number;
    count: number;
};
export type TransactionSearch = {
    /** Always true. */
    success: boolean;
    data: Transaction[];
    pagination: Pagination;
    summary: Totals;
};
export type TransactionRead = {
    /** Always true. */
    success: boolean;
    data: Transaction;
};
export type TransactionUpdate = {
    description?: string;
    /** At most 2 decimals. */
    amount?: number;
    "type"?: TransactionType;
    category_id?: number | null;
    transaction_date?: string;
    notes?: string | null;
    external_id?: string | null;
};
export type TransactionUpdateRead = {
    /** Ignored. */
    id?: number;
    /** Ignored. */
    created_at?: string;
    /** Ignored. */
    updated_at?: string;
    /** Ignored. */
    etag?: string;
    /** Ignored if `category_id` is sent, which assigns a category. Otherwise only the current name or null is accepted. */
    category_name?: string;
    description?: string;
    /** At most 2 decimals. */
    amount?: number;
    "type"?: TransactionType;
    category_id?: number | null;
    transaction_date?: string;
    notes?: string | null;
    external_id?: string | null;
    /** Ignored. */
    import_id?: string | null;
};
export type Deleted = {
    /** Always true. */
    success: boolean;
    message: string;
};
export type Category = {
    id: number;
    name: string;
    description: string | null;
    color: string | null;
    is_active: boolean;
    created_at: string;
    updated_at: string;
    /** The value for `If-Match`, with its quotes. */
    etag: string;
    /** Only in single reads, and in lists requested with counts. */
    transaction_count?: number;
};
export type CategoryList = {
    /** Always true. */
    success: boolean;
    data: Category[];
    count: number;
};
export type CategoryInput = {
    name: string;
    description?: string | null;
    color?: string | null;
    is_active?: boolean;
};
export type CategoryInputRead = {
    /** Ignored. */
    id?: number;
    /** Ignored. */
    created_at?: string;
    /** Ignored. */
    updated_at?: string;
    /** Ignored. */
    etag?: string;
    /** Ignored. */
    transaction_count?: number;
    name: string;
    description?: string | null;
    color?: string | null;
    is_active?: boolean;
};
export type CategoryWritten = {
    /** Always true. */
    success: boolean;
    data: Category;
    message: string;
};
export type CategoryRead = {
    /** Always true. */
    success: boolean;
    data: Category;
};
export type CategoryUpdate = {
    name?: string;
    description?: string | null;
    color?: string | null;
    is_active?: boolean;
};
export type CategoryUpdateRead = {
    /** Ignored. */
    id?: number;
    /** Ignored. */
    created_at?: string;
    /** Ignored. */
    updated_at?: string;
    /** Ignored. */
    etag?: string;
    /** Ignored. */
    transaction_count?: number;
    name?: string;
    description?: string | null;
    color?: string | null;
    is_active?: boolean;
};
export type Month = {
    month: string;
    /** At most 2 decimals. */
    income: number;
    /** At most 2 decimals. */
    expense: number;
    /** At most 2 decimals. */
    net: number;
    count: number;
    /** Opaque: equal for equal sets of transactions. */
    digest: string | null;
};
export type Months = {
    /** Always true. */
    success: boolean;
    data: Month[];
    /** Opaque: equal for equal sets of transactions. */
    digest: string | null;
};
export type SummaryGroup = {
    /** At most 2 decimals. */
    income: number;
    /** At most 2 decimals. */
    expense: number;
    /** At most 2 decimals. */
    net: number;
    count: number;
    /** The value of the grouping; its type depends on the grouping. */
    key?: any;
    /** Only when grouped by `category`; null for transactions without one. */
    category_id?: number | null;
    /** Only when grouped by `category`: the name of the category. */
    name?: string | null;
    "type"?: TransactionType;
    /** Only when grouped by a period: `2026-03-05`, `2026-03` or `2026`. */
    period?: string;
};
export type SummaryData = {
    /** At most 2 decimals. */
    income: number;
    /** At most 2 decimals. */
    expense: number;
    /** At most 2 decimals. */
    net: number;
    count: number;
    groups: SummaryGroup[];
};
export type Summary = {
    /** Always true. */
    success: boolean;
    data: SummaryData;
};
export type SeriesGroup = {
    income: number[];
    expense: number[];
    net: number[];
    count: number[];
    /** The value of the grouping; its type depends on the grouping. */
    key?: any;
    /** Only when grouped by `category`; null for transactions without one. */
    category_id?: number | null;
    /** Only when grouped by `category`: the name of the category. */
    name?: string | null;
    "type"?: TransactionType;
};
export type SeriesData = {
    /** At most 2 decimals. */
    income: number;
    /** At most 2 decimals. */
    expense: number;
    /** At most 2 decimals. */
    net: number;
    count: number;
    groups: SeriesGroup[];
    /** The periods, when grouped by `day`. */
    days?: string[];
    /** The periods, when grouped by `month`. */
    months?: string[];
    /** The periods, when grouped by `year`. */
    years?: string[];
};
export type SummarySeries = {
    /** Always true. */
    success: boolean;
    data: SeriesData;
};
export type ImportPart = {
    import_id: string;
    part: number;
    rows: string[];
};
export type ImportParts = {
    /** Always true. */
    success: boolean;
    data: ImportPart[];
    /** The query of the next page. */
    next: string | null;
};
export type ImportInput = {
    import_id: string;
    part?: number;
    rows: string[];
};
export type ImportCount = {
    import_id: string;
    part: number;
    recorded: number;
};
export type ImportRecorded = {
    /** Always true. */
    success: boolean;
    data: ImportCount;
    message: string;
};
export type CallerData = {
    ledger: string;
    scope: "read" | "write";
    kind: "key" | "token" | "anonymous";
    key_id?: string;
    /** The name of the key. */
    name?: string;
};
export type Caller = {
    /** Always true. */
    success: boolean;
    data: CallerData;
};
export type HealthData = {
    status: string;
    table?: string;
};
export type Health = {
    /** Always true. */
    success: boolean;
    data: HealthData;
};
export type Description = {
    [key: string]: any;
};
/** The body of each operation's response. */
export type Responses = {
    listTransactions: TransactionPage;
    createTransaction: TransactionWritten;
    createTransactions: TransactionsCreated;
    updateTransactions: TransactionsUpdated;
    deleteTransactions: TransactionsDeleted;
    exportTransactions: TransactionsFile;
    exportTransactionsAsJson: TransactionsPart;
    searchTransactions: TransactionSearch;
    readTransaction: TransactionRead;
    updateTransaction: TransactionWritten;
    deleteTransaction: Deleted;
    listCategories: CategoryList;
    createCategory: CategoryWritten;
    readCategory: CategoryRead;
    updateCategory: CategoryWritten;
    deleteCategory: Deleted;
    listMonths: Months;
    readSummary: Summary;
    readSummarySeries: SummarySeries;
    listImports: ImportParts;
    recordImport: ImportRecorded;
    identifyCaller: Caller;
    checkHealth: Health;
    describeApi: Description;
};
