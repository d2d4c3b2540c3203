// Written by `npm run describe`.
export type TransactionRow = {
    id: number;
    description: string;
    /** At most 2 decimals. */
    amount: number;
    "type": "income" | "expense";
    category_id: number | null;
    transaction_date: string;
    notes: string | null;
    created_at: string;
    updated_at: string;
    category_name?: string;
    external_id?: string;
    /** The import that created it. */
    import_id?: string;
    /** What `If-Match` takes, with its quotes. */
    etag: string;
};
export type Pagination = {
    page: number;
    per_page: number;
    total: number;
    pages: number;
    has_next: boolean;
    has_prev: boolean;
};
export type TransactionPage = {
    success: true;
    data: TransactionRow[];
    pagination: Pagination;
};
export type Failure = {
    success: false;
    error: "validation_failed" | "unauthenticated" | "forbidden" | "not_found" | "method_not_allowed" | "conflict" | "payload_too_large" | "unsupported_media_type" | "precondition_failed" | "idempotency_key_reused" | "internal_server_error" | "unavailable";
    message: string;
    /** Each invalid field with its sentences. */
    details?: {
        [key: string]: string[];
    };
    /** The record that has the `external_id` or the name. */
    existing_id?: number;
};
export type Transaction = {
    id: number;
    description: string;
    /** At most 2 decimals. */
    amount: number;
    "type": "income" | "expense";
    category_id: number | null;
    transaction_date: string;
    notes: string | null;
    created_at: string;
    updated_at: string;
    category_name?: string;
    external_id?: string;
    /** The import that created it. */
    import_id?: string;
};
export type TransactionWritten = {
    success: true;
    data: Transaction;
    message: string;
};
export type TransactionResults = {
    success: true;
    data: {
        created: number;
        duplicates: number;
        failed: number;
        results: ({
            index: number;
            status: 201;
            id: number;
            etag: string;
        } | {
            index: number;
            status: 400 | 404 | 409 | 412 | 422 | 500;
            error: "validation_failed" | "unauthenticated" | "forbidden" | "not_found" | "method_not_allowed" | "conflict" | "payload_too_large" | "unsupported_media_type" | "precondition_failed" | "idempotency_key_reused" | "internal_server_error" | "unavailable";
            message: string;
            /** Each invalid field with its sentences. */
            details?: {
                [key: string]: string[];
            };
            /** The record that has the `external_id` or the name. */
            existing_id?: number;
            /** Of the present record, with a 412. */
            etag?: string;
        })[];
    };
};
export type TransactionUpdates = {
    success: true;
    data: {
        updated: number;
        failed: number;
        results: ({
            index: number;
            status: 200;
            id: number;
            etag: string;
        } | {
            index: number;
            status: 400 | 404 | 409 | 412 | 422 | 500;
            error: "validation_failed" | "unauthenticated" | "forbidden" | "not_found" | "method_not_allowed" | "conflict" | "payload_too_large" | "unsupported_media_type" | "precondition_failed" | "idempotency_key_reused" | "internal_server_error" | "unavailable";
            message: string;
            /** Each invalid field with its sentences. */
            details?: {
                [key: string]: string[];
            };
            /** The record that has the `external_id` or the name. */
            existing_id?: number;
            /** Of the present record, with a 412. */
            etag?: string;
        })[];
    };
};
export type TransactionDeletions = {
    success: true;
    data: {
        deleted: number;
        failed: number;
        results: ({
            index: number;
            status: 200;
            id: number;
        } | {
            index: number;
            status: 400 | 404 | 409 | 412 | 422 | 500;
            error: "validation_failed" | "unauthenticated" | "forbidden" | "not_found" | "method_not_allowed" | "conflict" | "payload_too_large" | "unsupported_media_type" | "precondition_failed" | "idempotency_key_reused" | "internal_server_error" | "unavailable";
            message: string;
            /** Each invalid field with its sentences. */
            details?: {
                [key: string]: string[];
            };
            /** The record that has the `external_id` or the name. */
            existing_id?: number;
            /** Of the present record, with a 412. */
            etag?: string;
        })[];
    };
};
export type TransactionsFile = string;
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
    success: true;
    data: TransactionRow[];
    pagination: Pagination;
    summary: Totals;
};
export type TransactionRead = {
    success: true;
    data: Transaction;
};
export type Deleted = {
    success: true;
    message: string;
};
export type CategoryRow = {
    id: number;
    name: string;
    description: string | null;
    color: string | null;
    is_active: boolean;
    created_at: string;
    updated_at: string;
    /** In single reads, and in lists requested with counts. */
    transaction_count?: number;
    /** What `If-Match` takes, with its quotes. */
    etag: string;
};
export type CategoryList = {
    success: true;
    data: CategoryRow[];
    count: number;
};
export type Category = {
    id: number;
    name: string;
    description: string | null;
    color: string | null;
    is_active: boolean;
    created_at: string;
    updated_at: string;
    /** In single reads, and in lists requested with counts. */
    transaction_count?: number;
};
export type CategoryWritten = {
    success: true;
    data: Category;
    message: string;
};
export type CategoryRead = {
    success: true;
    data: Category;
};
export type Summary = {
    success: true;
    data: {
        /** At most 2 decimals. */
        income: number;
        /** At most 2 decimals. */
        expense: number;
        /** At most 2 decimals. */
        net: number;
        count: number;
        groups: ({
            key: number | string | null;
            /** At most 2 decimals. */
            income: number;
            /** At most 2 decimals. */
            expense: number;
            /** At most 2 decimals. */
            net: number;
            count: number;
            /** Of a category. */
            name?: string | null;
        } | {
            key: number | string | null;
            income: number[];
            expense: number[];
            net: number[];
            count: number[];
            /** Of a category. */
            name?: string | null;
        })[];
        /** By a group and `month`. */
        months?: string[];
        /** By a group and `year`. */
        years?: string[];
    };
};
export type ImportParts = {
    success: true;
    data: {
        import_id: string;
        part: number;
        rows: string[];
    }[];
    /** The query of the next page. */
    next: string | null;
};
export type ImportRecorded = {
    success: true;
    data: {
        import_id: string;
        part: number;
        recorded: number;
    };
    message: string;
};
export type Me = {
    success: true;
    data: {
        ledger: string;
        scope: "read" | "write";
        kind: "key" | "token" | "anonymous";
        key_id?: string;
        /** Of the key. */
        name?: string;
    };
};
export type Health = {
    success: true;
    data: {
        status: "ok";
        table?: "ok";
    };
};
export type Description = object;
