/**
 * Finance ledger
 * 1.0.0
 * DO NOT MODIFY - This file has been generated using oazapfts.
 * See https://www.npmjs.com/package/oazapfts
 */
import * as Oazapfts from "@oazapfts/runtime";
import * as QS from "@oazapfts/runtime/query";
export const defaults: Oazapfts.Defaults<Oazapfts.CustomHeaders> = {
    headers: {},
    baseUrl: "/"
};
const oazapfts = Oazapfts.runtime(defaults);
export const servers = {
    server1: "/"
};
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
    /** The transaction that has the `external_id`. */
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
            /** The transaction that has the `external_id`. */
            existing_id?: number;
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
            /** The transaction that has the `external_id`. */
            existing_id?: number;
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
            /** The transaction that has the `external_id`. */
            existing_id?: number;
        })[];
    };
};
export type TransactionsFile = string;
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
/**
 * List transactions
 */
export function listTransactions({ $type, categoryId, startDate, endDate, externalId, importId, q, sort, page, perPage }: {
    $type?: "income" | "expense";
    categoryId?: number | "none";
    startDate?: string;
    endDate?: string;
    externalId?: string;
    importId?: string;
    q?: string;
    sort?: "date" | "-date";
    page?: number;
    perPage?: number;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: TransactionPage;
    } | {
        status: 400;
        data: Failure;
    } | {
        status: 401;
        data: Failure;
    } | {
        status: 403;
        data: Failure;
    } | {
        status: 500;
        data: Failure;
    } | {
        status: 503;
        data: Failure;
    }>(`/transactions${QS.query(QS.explode({
        "type": $type,
        category_id: categoryId,
        start_date: startDate,
        end_date: endDate,
        external_id: externalId,
        import_id: importId,
        q,
        sort,
        page,
        per_page: perPage
    }))}`, {
        ...opts
    });
}
/**
 * Create a transaction
 */
export function createTransaction(body: {
    /** Ignored. */
    id?: any;
    /** Ignored. */
    created_at?: any;
    /** Ignored. */
    updated_at?: any;
    /** Ignored. */
    category_name?: any;
    /** Ignored. */
    transaction_count?: any;
    /** Ignored. */
    etag?: any;
    import_id?: string | null;
    description: string;
    /** At most 2 decimals. */
    amount: number;
    "type": "income" | "expense";
    category_id?: number | null;
    transaction_date?: string;
    notes?: string | null;
    external_id?: string | null;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
        data: TransactionWritten;
    } | {
        status: 400;
        data: Failure;
    } | {
        status: 401;
        data: Failure;
    } | {
        status: 403;
        data: Failure;
    } | {
        status: 404;
        data: Failure;
    } | {
        status: 409;
        data: Failure;
    } | {
        status: 413;
        data: Failure;
    } | {
        status: 415;
        data: Failure;
    } | {
        status: 422;
        data: Failure;
    } | {
        status: 500;
        data: Failure;
    } | {
        status: 503;
        data: Failure;
    }>("/transactions", oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Create up to 100 transactions
 */
export function createTransactions(body: {
    /** Ignored. */
    id?: any;
    /** Ignored. */
    created_at?: any;
    /** Ignored. */
    updated_at?: any;
    /** Ignored. */
    category_name?: any;
    /** Ignored. */
    transaction_count?: any;
    /** Ignored. */
    etag?: any;
    /** Ignored. */
    import_id?: any;
    transactions: {
        description: string;
        /** At most 2 decimals. */
        amount: number;
        "type": "income" | "expense";
        category_id?: number | null;
        transaction_date?: string;
        notes?: string | null;
        external_id?: string | null;
        import_id?: string | null;
    }[];
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 207;
        data: TransactionResults;
    } | {
        status: 400;
        data: Failure;
    } | {
        status: 401;
        data: Failure;
    } | {
        status: 403;
        data: Failure;
    } | {
        status: 413;
        data: Failure;
    } | {
        status: 415;
        data: Failure;
    } | {
        status: 422;
        data: Failure;
    } | {
        status: 500;
        data: Failure;
    } | {
        status: 503;
        data: Failure;
    }>("/transactions/bulk", oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Update up to 100 transactions
 */
export function updateTransactions(body: {
    /** Ignored. */
    id?: any;
    /** Ignored. */
    created_at?: any;
    /** Ignored. */
    updated_at?: any;
    /** Ignored. */
    category_name?: any;
    /** Ignored. */
    transaction_count?: any;
    /** Ignored. */
    etag?: any;
    /** Ignored. */
    import_id?: any;
    transactions: {
        description?: string;
        /** At most 2 decimals. */
        amount?: number;
        "type"?: "income" | "expense";
        category_id?: number | null;
        transaction_date?: string;
        notes?: string | null;
        external_id?: string | null;
        id: number;
        /** As the header If-Match. */
        if_match?: string;
    }[];
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 207;
        data: TransactionUpdates;
    } | {
        status: 400;
        data: Failure;
    } | {
        status: 401;
        data: Failure;
    } | {
        status: 403;
        data: Failure;
    } | {
        status: 413;
        data: Failure;
    } | {
        status: 415;
        data: Failure;
    } | {
        status: 422;
        data: Failure;
    } | {
        status: 500;
        data: Failure;
    } | {
        status: 503;
        data: Failure;
    }>("/transactions/bulk", oazapfts.json({
        ...opts,
        method: "PUT",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Delete up to 100 transactions
 */
export function deleteTransactions(body: {
    /** Ignored. */
    id?: any;
    /** Ignored. */
    created_at?: any;
    /** Ignored. */
    updated_at?: any;
    /** Ignored. */
    category_name?: any;
    /** Ignored. */
    transaction_count?: any;
    /** Ignored. */
    etag?: any;
    /** Ignored. */
    import_id?: any;
    transactions: {
        id: number;
        /** As the header If-Match. */
        if_match?: string;
    }[];
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 207;
        data: TransactionDeletions;
    } | {
        status: 400;
        data: Failure;
    } | {
        status: 401;
        data: Failure;
    } | {
        status: 403;
        data: Failure;
    } | {
        status: 413;
        data: Failure;
    } | {
        status: 415;
        data: Failure;
    } | {
        status: 422;
        data: Failure;
    } | {
        status: 500;
        data: Failure;
    } | {
        status: 503;
        data: Failure;
    }>("/transactions/bulk/delete", oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Export transactions as CSV or JSON
 */
export function exportTransactions({ $type, categoryId, startDate, endDate, externalId, importId, q, format, cursor }: {
    $type?: "income" | "expense";
    categoryId?: number | "none";
    startDate?: string;
    endDate?: string;
    externalId?: string;
    importId?: string;
    q?: string;
    format?: "csv" | "json";
    cursor?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: TransactionsFile;
    } | {
        status: 400;
        data: Failure;
    } | {
        status: 401;
        data: Failure;
    } | {
        status: 403;
        data: Failure;
    } | {
        status: 500;
        data: Failure;
    } | {
        status: 503;
        data: Failure;
    }>(`/transactions/export${QS.query(QS.explode({
        "type": $type,
        category_id: categoryId,
        start_date: startDate,
        end_date: endDate,
        external_id: externalId,
        import_id: importId,
        q,
        format,
        cursor
    }))}`, {
        ...opts
    });
}
/**
 * Read a transaction
 */
export function readTransaction(id: number, { ifNoneMatch }: {
    ifNoneMatch?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: TransactionRead;
    } | {
        status: 304;
    } | {
        status: 400;
        data: Failure;
    } | {
        status: 401;
        data: Failure;
    } | {
        status: 403;
        data: Failure;
    } | {
        status: 404;
        data: Failure;
    } | {
        status: 500;
        data: Failure;
    } | {
        status: 503;
        data: Failure;
    }>(`/transactions/${encodeURIComponent(id)}`, {
        ...opts,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "If-None-Match": ifNoneMatch
        })
    });
}
/**
 * Update a transaction
 */
export function updateTransaction(id: number, body: {
    /** Ignored. */
    id?: any;
    /** Ignored. */
    created_at?: any;
    /** Ignored. */
    updated_at?: any;
    /** Ignored. */
    category_name?: any;
    /** Ignored. */
    transaction_count?: any;
    /** Ignored. */
    etag?: any;
    /** Ignored. */
    import_id?: any;
    description?: string;
    /** At most 2 decimals. */
    amount?: number;
    "type"?: "income" | "expense";
    category_id?: number | null;
    transaction_date?: string;
    notes?: string | null;
    external_id?: string | null;
}, { ifMatch }: {
    ifMatch?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: TransactionWritten;
    } | {
        status: 400;
        data: Failure;
    } | {
        status: 401;
        data: Failure;
    } | {
        status: 403;
        data: Failure;
    } | {
        status: 404;
        data: Failure;
    } | {
        status: 409;
        data: Failure;
    } | {
        status: 412;
        data: Failure;
    } | {
        status: 413;
        data: Failure;
    } | {
        status: 415;
        data: Failure;
    } | {
        status: 500;
        data: Failure;
    } | {
        status: 503;
        data: Failure;
    }>(`/transactions/${encodeURIComponent(id)}`, oazapfts.json({
        ...opts,
        method: "PUT",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "If-Match": ifMatch
        })
    }));
}
/**
 * Delete a transaction
 */
export function deleteTransaction(id: number, { ifMatch }: {
    ifMatch?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Deleted;
    } | {
        status: 400;
        data: Failure;
    } | {
        status: 401;
        data: Failure;
    } | {
        status: 403;
        data: Failure;
    } | {
        status: 404;
        data: Failure;
    } | {
        status: 412;
        data: Failure;
    } | {
        status: 500;
        data: Failure;
    } | {
        status: 503;
        data: Failure;
    }>(`/transactions/${encodeURIComponent(id)}`, {
        ...opts,
        method: "DELETE",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "If-Match": ifMatch
        })
    });
}
/**
 * List categories
 */
export function listCategories({ activeOnly, includeCounts }: {
    activeOnly?: boolean | string;
    includeCounts?: boolean | string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: CategoryList;
    } | {
        status: 400;
        data: Failure;
    } | {
        status: 401;
        data: Failure;
    } | {
        status: 403;
        data: Failure;
    } | {
        status: 500;
        data: Failure;
    } | {
        status: 503;
        data: Failure;
    }>(`/categories${QS.query(QS.explode({
        active_only: activeOnly,
        include_counts: includeCounts
    }))}`, {
        ...opts
    });
}
/**
 * Create a category
 */
export function createCategory(body: {
    /** Ignored. */
    id?: any;
    /** Ignored. */
    created_at?: any;
    /** Ignored. */
    updated_at?: any;
    /** Ignored. */
    category_name?: any;
    /** Ignored. */
    transaction_count?: any;
    /** Ignored. */
    etag?: any;
    /** Ignored. */
    import_id?: any;
    name: string;
    description?: string | null;
    color?: string | null;
    is_active?: boolean;
}, { idempotencyKey }: {
    idempotencyKey?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 201;
        data: CategoryWritten;
    } | {
        status: 400;
        data: Failure;
    } | {
        status: 401;
        data: Failure;
    } | {
        status: 403;
        data: Failure;
    } | {
        status: 409;
        data: Failure;
    } | {
        status: 413;
        data: Failure;
    } | {
        status: 415;
        data: Failure;
    } | {
        status: 422;
        data: Failure;
    } | {
        status: 500;
        data: Failure;
    } | {
        status: 503;
        data: Failure;
    }>("/categories", oazapfts.json({
        ...opts,
        method: "POST",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "Idempotency-Key": idempotencyKey
        })
    }));
}
/**
 * Read a category
 */
export function readCategory(id: number, { ifNoneMatch }: {
    ifNoneMatch?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: CategoryRead;
    } | {
        status: 304;
    } | {
        status: 400;
        data: Failure;
    } | {
        status: 401;
        data: Failure;
    } | {
        status: 403;
        data: Failure;
    } | {
        status: 404;
        data: Failure;
    } | {
        status: 500;
        data: Failure;
    } | {
        status: 503;
        data: Failure;
    }>(`/categories/${encodeURIComponent(id)}`, {
        ...opts,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "If-None-Match": ifNoneMatch
        })
    });
}
/**
 * Update a category
 */
export function updateCategory(id: number, body: {
    /** Ignored. */
    id?: any;
    /** Ignored. */
    created_at?: any;
    /** Ignored. */
    updated_at?: any;
    /** Ignored. */
    category_name?: any;
    /** Ignored. */
    transaction_count?: any;
    /** Ignored. */
    etag?: any;
    /** Ignored. */
    import_id?: any;
    name?: string;
    description?: string | null;
    color?: string | null;
    is_active?: boolean;
}, { ifMatch }: {
    ifMatch?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: CategoryWritten;
    } | {
        status: 400;
        data: Failure;
    } | {
        status: 401;
        data: Failure;
    } | {
        status: 403;
        data: Failure;
    } | {
        status: 404;
        data: Failure;
    } | {
        status: 409;
        data: Failure;
    } | {
        status: 412;
        data: Failure;
    } | {
        status: 413;
        data: Failure;
    } | {
        status: 415;
        data: Failure;
    } | {
        status: 500;
        data: Failure;
    } | {
        status: 503;
        data: Failure;
    }>(`/categories/${encodeURIComponent(id)}`, oazapfts.json({
        ...opts,
        method: "PUT",
        body,
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "If-Match": ifMatch
        })
    }));
}
/**
 * Deactivate a category
 */
export function deleteCategory(id: number, { ifMatch }: {
    ifMatch?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Deleted;
    } | {
        status: 400;
        data: Failure;
    } | {
        status: 401;
        data: Failure;
    } | {
        status: 403;
        data: Failure;
    } | {
        status: 404;
        data: Failure;
    } | {
        status: 409;
        data: Failure;
    } | {
        status: 412;
        data: Failure;
    } | {
        status: 500;
        data: Failure;
    } | {
        status: 503;
        data: Failure;
    }>(`/categories/${encodeURIComponent(id)}`, {
        ...opts,
        method: "DELETE",
        headers: oazapfts.mergeHeaders(opts?.headers, {
            "If-Match": ifMatch
        })
    });
}
/**
 * Add up transactions
 */
export function readSummary(groupBy: "category" | "type" | "month" | "year" | "category,month" | "category,year" | "type,month" | "type,year", { $type, categoryId, startDate, endDate }: {
    $type?: "income" | "expense";
    categoryId?: number | "none";
    startDate?: string;
    endDate?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Summary;
    } | {
        status: 400;
        data: Failure;
    } | {
        status: 401;
        data: Failure;
    } | {
        status: 403;
        data: Failure;
    } | {
        status: 500;
        data: Failure;
    } | {
        status: 503;
        data: Failure;
    }>(`/summary${QS.query(QS.explode({
        group_by: groupBy,
        "type": $type,
        category_id: categoryId,
        start_date: startDate,
        end_date: endDate
    }))}`, {
        ...opts
    });
}
/**
 * Say who sends the request
 */
export function identifyCaller(opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Me;
    } | {
        status: 400;
        data: Failure;
    } | {
        status: 401;
        data: Failure;
    } | {
        status: 403;
        data: Failure;
    } | {
        status: 500;
        data: Failure;
    } | {
        status: 503;
        data: Failure;
    }>("/me", {
        ...opts
    });
}
/**
 * Check that the service runs
 */
export function checkHealth({ deep }: {
    deep?: string;
} = {}, opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Health;
    } | {
        status: 400;
        data: Failure;
    } | {
        status: 500;
        data: Failure;
    }>(`/health${QS.query(QS.explode({
        deep
    }))}`, {
        ...opts
    });
}
/**
 * Describe the API
 */
export function describeApi(opts?: Oazapfts.RequestOpts) {
    return oazapfts.fetchJson<{
        status: 200;
        data: Description;
    } | {
        status: 400;
        data: Failure;
    }>("/openapi.json", {
        ...opts
    });
}
