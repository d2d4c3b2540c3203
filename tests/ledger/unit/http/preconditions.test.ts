// ETags: the versions that they name, the ETags that satisfy If-Match and If-None-Match, and strings that are not ETags.
import { describe, expect, it } from 'vitest';
import {
  makeTag,
  readVersionCheck,
  replyIfModified,
} from '../../../../lib/ledger/http/preconditions.ts';
import { replyWithData } from '../../../../lib/ledger/http/replies.ts';

const RECORD = { id: 7, version: 3 };
const TAG = makeTag('transaction', RECORD, { a: 1 });

const MALFORMED = ['', 't7.3.0f3a9c21', `"t7.3.0f3a9c21`, '"a" "b"', '"a", *', 'W/ "a"', '"a b"'];

const NOT_AN_ETAG = expect.objectContaining({
  name: 'ValidationError',
  message: expect.stringMatching(/is not an ETag: send one from a response/),
});

it('an ETag has the kind, the id and the version of a record, and a hash of what is shown', () => {
  expect(TAG).toMatch(/^"t7\.3\.[0-9a-f]{8}"$/);
  expect(makeTag('category', { id: 12, version: 40 }, {})).toMatch(/^"c12\.40\.[0-9a-f]{8}"$/);
  expect(makeTag('transaction', RECORD, { a: 2 })).not.toBe(TAG);
});

describe('If-Match', () => {
  const isExpected = (ifMatch: string | undefined, version = 3) =>
    readVersionCheck({ 'if-match': ifMatch }, 'transaction', RECORD.id)(version);

  it.each([
    undefined,
    '*',
    ' * ',
    TAG,
    // The ETag of the same version in another form of response.
    '"t7.3.00000000"',
    ` "other" ,, ${TAG} , `,
    `"t7.2.00000000",${TAG}`,
  ])('%s allows the version', (ifMatch) => expect(isExpected(ifMatch)).toBe(true));

  it.each([
    [TAG, 4],
    ['"t7.30.00000000"', 3],
    ['"t7.2.00000000", "t7.4.00000000"', 3],
  ])('%s does not allow version %d', (ifMatch, version) => {
    expect(isExpected(ifMatch, version)).toBe(false);
  });

  it.each([
    ['of a category', '"c7.3.00000000"'],
    ['of another transaction', '"t8.3.00000000"'],
    ['of a transaction whose id only begins with the same digit', '"t77.3.00000000"'],
    ['without a record', '"3.0f3a9c21"'],
    ['of another service', '"0"'],
    ['with a malformed version', '"t7.03.00000000"'],
  ])('an ETag %s does not allow the version', (_, ifMatch) => {
    expect(isExpected(ifMatch)).toBe(false);
  });

  it.each(MALFORMED)('refuses %j, which is malformed', (ifMatch) => {
    expect(() => readVersionCheck({ 'if-match': ifMatch }, 'transaction', 7)).toThrow(NOT_AN_ETAG);
  });

  it('refuses a weak ETag, which does not identify a version', () => {
    expect(() => readVersionCheck({ 'if-match': `W/${TAG}` }, 'transaction', 7)).toThrow(
      expect.objectContaining({ name: 'ValidationError', message: expect.stringMatching(/weak/) }),
    );
  });
});

describe('If-None-Match on a write', () => {
  const isExpected = (ifNoneMatch: string, ifMatch?: string) =>
    readVersionCheck(
      { 'if-none-match': ifNoneMatch, 'if-match': ifMatch },
      'transaction',
      RECORD.id,
    )(3);

  it.each(['"other"', '"t7.2.00000000"', '"t8.3.00000000"'])(
    '%s allows version 3',
    (ifNoneMatch) => {
      expect(isExpected(ifNoneMatch)).toBe(true);
      expect(isExpected(ifNoneMatch, '"t7.2.00000000"')).toBe(false);
    },
  );

  it.each([TAG, `W/${TAG}`, `"other", ${TAG}`])('%s does not allow version 3', (ifNoneMatch) => {
    expect(isExpected(ifNoneMatch)).toBe(false);
    expect(isExpected(ifNoneMatch, TAG)).toBe(false);
  });

  it('* allows no version', () => {
    expect(isExpected('*')).toBe(false);
  });

  it.each(MALFORMED)('refuses %j, which is malformed', (ifNoneMatch) => {
    expect(() => isExpected(ifNoneMatch)).toThrow(NOT_AN_ETAG);
  });
});

describe('If-None-Match on a read', () => {
  const reply = { ...replyWithData({ id: 7 }), headers: { etag: TAG } };
  const notModified = { status: 304, body: {}, headers: { etag: TAG } };

  it.each(['*', TAG, `W/${TAG}`, `"other", ${TAG}`])('%s gets 304', (ifNoneMatch) => {
    expect(replyIfModified(reply, ifNoneMatch)).toEqual(notModified);
  });

  it.each([undefined, '"t7.3.00000000"', '"3.0f3a9c21"', '"other"'])(
    '%s gets the whole response',
    (ifNoneMatch) => {
      expect(replyIfModified(reply, ifNoneMatch)).toBe(reply);
    },
  );

  it.each(MALFORMED)('refuses %j, which is malformed', (ifNoneMatch) => {
    expect(() => replyIfModified(reply, ifNoneMatch)).toThrow(NOT_AN_ETAG);
  });

  it('is ignored for a reply without an ETag', () => {
    const { headers: _, ...untagged } = reply;
    expect(replyIfModified(untagged, '*')).toBe(untagged);
  });
});
