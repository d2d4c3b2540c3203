// The deployed table has the keys and indexes of the local one.
import { expect, it } from 'vitest';
import definition from '../../lib/store/table.json' with { type: 'json' };
import { readTemplate, STAGES, theOnly } from '../support/packaged-template.ts';

it.each(STAGES)('the table of stage %s is the one that lib/store/table.json defines', (stage) => {
  const { Properties } = theOnly(readTemplate(stage), 'AWS::DynamoDB::Table');
  const { OnDemandThroughput } = Properties;
  const GlobalSecondaryIndexes = definition.GlobalSecondaryIndexes.map((index) => ({
    ...index,
    OnDemandThroughput,
  }));
  expect(Properties).toMatchObject({ ...definition, GlobalSecondaryIndexes });
});
