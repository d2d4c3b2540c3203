// A file of rules assigns categories to the rows of an import.
import { describe, expect, it } from 'vitest';
import { findRule, parseCategoryRules } from '../../../../lib/ledger/import/category-rules.ts';

const RULES = `# what the bank calls things
rewe = Groceries

/^amazon (?!prime)/ = Household
amazon prime=Streaming
/a=b/ = Letters
`;

describe('a file of rules for categories', () => {
  it.each([
    ['REWE SAGT DANKE', 'Groceries'],
    ['Amazon Marketplace', 'Household'],
    ['Amazon Prime', 'Streaming'],
    ['x a=b y', 'Letters'],
    ['Bakery', undefined],
  ])('gives %s the category %s', (description, category) => {
    expect(findRule(parseCategoryRules(RULES), description)?.category).toBe(category);
  });

  it('applies the first rule that matches', () => {
    const rules = parseCategoryRules('shop = One\nshop = Two');
    expect(findRule(rules, 'Shop')?.line).toBe(1);
  });

  it.each([
    ['rewe', 'Line 1 of the rules is not a rule: "rewe". Write text = Category'],
    ['\n= Groceries', 'Line 2'],
    ['rewe =', 'Line 1'],
    ['/(/ = Groceries', 'Line 1 of the rules has an invalid expression'],
  ])('refuses %j', (text, message) => {
    expect(() => parseCategoryRules(text)).toThrow(message);
  });
});
