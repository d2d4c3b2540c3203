// Schema statements of a dump: every form that Neo4j writes is restored unchanged, and no other statement is ever run.
import { describe, expect, it } from 'vitest';
import { rebuildStatement } from '../../../../lib/migration/graph/schema-statement.ts';

const INDEX_CONFIG = "OPTIONS {indexConfig: {}, indexProvider: 'range-1.0'}";

it.each([
  'CREATE CONSTRAINT `unique_code` FOR (n:`city`) REQUIRE (n.`code`) IS UNIQUE',
  `CREATE CONSTRAINT \`a\` FOR (n:\`city\`) REQUIRE (n.\`code\`, n.\`country\`) IS NODE KEY ${INDEX_CONFIG}`,
  'CREATE CONSTRAINT `a` FOR ()-[r:`knows`]-() REQUIRE (r.`since`) IS RELATIONSHIP KEY',
  'CREATE CONSTRAINT `a` FOR ()-[r:`knows`]-() REQUIRE (r.`since`) IS NOT NULL',
  'CREATE CONSTRAINT `a` FOR (n:`city`) REQUIRE (n.`code`) IS :: LIST<STRING NOT NULL> | INTEGER',
  'CREATE CONSTRAINT `a` FOR (n:`city`) REQUIRE (n.`v`) IS :: VECTOR<FLOAT32>(768)',
  'CREATE CONSTRAINT `a` FOR (n:`city`) REQUIRE (n.`at`) IS :: ZONED DATETIME',
  'CREATE RANGE INDEX `entity_single` FOR (n:`__Entity__`) ON (n.`user_id`)',
  `CREATE RANGE INDEX \`a\` FOR ()-[r:\`knows\`]-() ON (r.\`since\`, r.\`x\`) ${INDEX_CONFIG}`,
  "CREATE TEXT INDEX `a` FOR (n:`city`) ON (n.`name`) OPTIONS {indexConfig: {}, indexProvider: 'text-2.0'}",
  "CREATE POINT INDEX `a` FOR (n:`city`) ON (n.`at`) OPTIONS {indexConfig: {`spatial.cartesian.max`: [1000000.0, 1000000.0],`spatial.cartesian.min`: [-1000000.0, -1.0E7]}, indexProvider: 'point-1.0'}",
  'CREATE LOOKUP INDEX `index_343aff4e` FOR (n) ON EACH labels(n)',
  'CREATE LOOKUP INDEX `a` FOR ()-[r]-() ON EACH type(r)',
  "CREATE FULLTEXT INDEX `a` FOR (n:`city`|`town`) ON EACH [n.`name`, n.`text`] OPTIONS {indexConfig: {`fulltext.analyzer`: 'standard-no-stop-words',`fulltext.eventually_consistent`: false}, indexProvider: 'fulltext-1.0'}",
  'CREATE FULLTEXT INDEX `a` FOR ()-[r:`knows`|`likes`]-() ON EACH [r.`text`]',
  "CREATE VECTOR INDEX `a` FOR (n:`memory`) ON (n.`embedding`) OPTIONS {indexConfig: {`vector.dimensions`: 1536,`vector.quantization.enabled`: true,`vector.similarity_function`: 'COSINE'}, indexProvider: 'vector-2.0'}",
  'CREATE RANGE INDEX `a ``b`` c` FOR (n:`x}) DETACH DELETE (n`) ON (n.`;`)',
  "CREATE FULLTEXT INDEX `a` FOR (n:`c`) ON EACH [n.`t`] OPTIONS {indexConfig: {`fulltext.analyzer`: 'it\\'s \\\\ odd'}}",
])('is restored unchanged: %s', (statement) => {
  const rebuilt = rebuildStatement(statement);
  expect(dropSpaces(rebuilt)).toBe(dropSpaces(statement));
  expect(rebuildStatement(rebuilt)).toBe(rebuilt);
});

/** Drops the spaces after commas, which have no meaning in a statement. */
function dropSpaces(statement: string): string {
  return statement.replaceAll(', ', ',');
}

describe('a schema statement is refused if it contains', () => {
  it.each([
    ['another statement', 'MATCH (n) DETACH DELETE n'],
    ['a second statement', 'CREATE RANGE INDEX `a` FOR (n:`b`) ON (n.`c`); MATCH (n) DELETE n'],
    ['a further clause', 'CREATE RANGE INDEX `a` FOR (n:`b`) ON (n.`c`) RETURN 1'],
    ['a procedure', 'CALL dbms.security.createUser("x", "y", false)'],
    ['a user', "CREATE USER x SET PASSWORD 'y'"],
    ['a name that ends early', 'CREATE RANGE INDEX `a` FOR (n:`b`) ON (n.`c`` ) CALL x.y()'],
    ['an escaped back-tick in a name', 'CREATE RANGE INDEX `a\\u0060 ...` FOR (n:`b`) ON (n.`c`)'],
    ['a property of another variable', 'CREATE RANGE INDEX `a` FOR (n:`b`) ON (m.`c`)'],
    ['a comment', 'CREATE RANGE INDEX `a` FOR (n:`b`) ON (n.`c`) // x'],
    ['a parameter', 'CREATE RANGE INDEX `a` FOR (n:`b`) ON (n.`c`) OPTIONS $map'],
    ['a call among options', 'CREATE RANGE INDEX `a` FOR (n:`b`) ON (n.`c`) OPTIONS {a: f()}'],
    ['an unknown type', 'CREATE CONSTRAINT `a` FOR (n:`b`) REQUIRE (n.`c`) IS :: NOTHING'],
    ['nothing', ''],
    [
      'options that never end',
      `CREATE RANGE INDEX \`a\` FOR (n:\`b\`) ON (n.\`c\`) OPTIONS ${'{a: '.repeat(50_000)}`,
    ],
  ])('%s', (_, statement) => {
    expect(() => rebuildStatement(statement)).toThrow(
      expect.objectContaining({ name: 'RefusedSnapshot' }),
    );
  });
});
