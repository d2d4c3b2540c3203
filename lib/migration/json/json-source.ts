// What Node 24 can do with the source text of JSON; the compiler's own library does not declare it yet.

export interface RawJson {
  readonly rawJSON: string;
}

interface SourceJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  /** Stands for a primitive, and is written as that text. */
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
}

export const sourceJson: SourceJson = JSON as unknown as SourceJson;
