// The sandbox's refusals, with Qdrant's status codes and texts.

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  /** True if the message is sent as plain text instead of in the envelope. */
  readonly plain: boolean;

  constructor(status: number, message: string, { plain = false } = {}) {
    super(message);
    this.status = status;
    this.plain = plain;
  }
}

export const wrongInput = (reason: string) => new Refusal(400, `Wrong input: ${reason}`);
export const badRequest = (reason: string) => new Refusal(400, `Bad request: ${reason}`);
export const notFound = (what: string) => new Refusal(404, `Not found: ${what}`);
export const malformed = (reason: string) =>
  new Refusal(400, `Format error in JSON body: ${reason}`);
export const invalid = (field: string, reason: string) =>
  new Refusal(422, `Validation error in JSON body: [${field}: ${reason}]`);
export const internal = (reason: string) => new Refusal(500, `Service internal error: ${reason}`);

export const noCollection = (name: string) => notFound(`Collection \`${name}\` doesn't exist!`);
export const noVector = (name: string) => wrongInput(`Not existing vector name error: ${name}`);
