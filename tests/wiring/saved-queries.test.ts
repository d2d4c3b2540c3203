// The saved queries of a stage ask the logs of every function behind the gateway. tests/contract/saved-queries.test.ts tries them.
import { expect, it } from 'vitest';
import { QUERIES } from '../../serverless/saved-queries.ts';
import { apiFunctionsOf, readTemplate, resourcesOf } from '../support/packaged-template.ts';

interface LogGroup {
  readonly LogGroupName: string;
}

it('asks the logs of all functions behind the gateway', () => {
  const template = readTemplate('migrating');
  const groups = apiFunctionsOf(template).map(
    ([, { FunctionName }]) => `/aws/lambda/${FunctionName}`,
  );
  const saved = resourcesOf<{
    readonly Name: string;
    readonly LogGroupNames: readonly { readonly Ref: string }[];
  }>(template, 'AWS::Logs::QueryDefinition').map(([, { Properties }]) => Properties);
  expect(saved.map(({ Name }) => Name)).toEqual(
    Object.keys(QUERIES).map((name) => `finance-ledger-prod/${name}`),
  );
  for (const { LogGroupNames } of saved) {
    const names = LogGroupNames.map(({ Ref }) => template.Resources[Ref]?.Properties as LogGroup);
    expect(names.map(({ LogGroupName }) => LogGroupName).toSorted()).toEqual(groups.toSorted());
  }
});
