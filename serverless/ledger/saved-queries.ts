// Queries of CloudWatch Logs Insights for the questions that come up in an incident. docs/ledger/deploy.md lists them.
import {
  type Configuration,
  type Resources,
  readFunctions,
  readSection,
  readText,
  toLogicalName,
} from '../configuration.ts';

const REQUEST = 'filter message = "request"';

/** Queries by the question that they answer; the operator replaces the words in capitals. */
export const QUERIES: Readonly<Record<string, string>> = {
  slowest: `fields @timestamp, route, duration, status, ledger, requestId | ${REQUEST} | sort duration desc | limit 20`,
  failing:
    'fields @timestamp, message, cause.name, cause.message, requestId | filter level = "ERROR" | sort @timestamp desc | limit 50',
  conflicts: `fields route, ledger, conflicts | ${REQUEST} | filter conflicts > 0 | stats sum(conflicts) as lost, count(*) as requests by ledger, route | sort lost desc`,
  'one-request':
    'fields @timestamp, @message | filter requestId = "REQUEST_ID" | sort @timestamp asc',
  'one-ledger': `fields @timestamp, route, status, duration, requestId | ${REQUEST} | filter ledger = "LEDGER" | sort @timestamp desc | limit 200`,
};

/** CloudFormation resources; none for a local start. */
export async function savedQueries(configuration: Configuration): Promise<Resources> {
  const stage = await readText(configuration, 'sls:stage');
  if (stage === 'local') return {};
  const service = await readSection<string>(configuration, 'service');
  const functions = Object.entries(await readFunctions(configuration));
  const LogGroupNames = functions
    .filter(([, { handler }]) => !/\/(migration|canary)\//.test(handler))
    .map(([name]) => ({ Ref: `${toLogicalName(name)}LogGroup` }));
  return Object.fromEntries(
    Object.entries(QUERIES).map(([name, QueryString]) => [
      `Query${name.split('-').map(toLogicalName).join('')}`,
      {
        Type: 'AWS::Logs::QueryDefinition',
        Properties: { Name: `${service}-${stage}/${name}`, QueryString, LogGroupNames },
      },
    ]),
  );
}
