// Deployments that serverless/deploy-rules.ts refuses, on packaged templates of stages with and without a migration.
import { isDeepStrictEqual } from 'node:util';
import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { UPGRADES } from '../../../lib/ledger/store/schema-upgrades.ts';
import { PHASES } from '../../../lib/migration/phases.ts';
import { LOCK_KEY } from '../../../lib/migration/runs/run-lock.ts';
import { planTemplate } from '../../../serverless/deploy-guard.ts';
import { createRollbackConfiguration, isGradual } from '../../../serverless/deploy-rollback.ts';
import { listRefusalReasons, type Situation } from '../../../serverless/deploy-rules.ts';
import { SETTINGS } from '../../../serverless/migration/settings.ts';
import { createGuard, type GuardSpec } from '../support/deploy-guard.ts';
import {
  type FunctionProperties,
  listApiFunctions,
  listMigrationFunctions,
  listResources,
  readService,
  readTemplate,
  type Template,
} from '../support/packaged-template.ts';

const migrating = readTemplate('migrating') as Template & Situation['next'];
const withoutStore = readTemplate('prod') as Template & Situation['next'];

const UNCHANGED_STAGE: Situation = {
  run: undefined,
  deployed: migrating,
  next: migrating,
  table: 'part of the stack',
  acceptedRun: '',
};
const ACTIVE = { id: 'spring', phase: 'copied' };
const LIVE = { id: 'spring', phase: 'live' };

/** Returns the template with another value of the variable in all functions, or without the variable if `value` is undefined. */
function withVariable(name: string, value: string | undefined) {
  return withFunctions(({ Environment: { Variables } }) => {
    if (Variables[name] === undefined) return;
    if (value === undefined) delete Variables[name];
    else Variables[name] = value;
  });
}

function withFunctions(change: (properties: FunctionProperties) => void) {
  const template = structuredClone(migrating);
  for (const [, { Properties }] of listResources<FunctionProperties>(
    template,
    'AWS::Lambda::Function',
  )) {
    change(Properties);
  }
  return template;
}

/** Returns the template with the watchdog's first resource of the type disabled. */
function withDisabled(template: Template & Situation['next'], type: string) {
  const rules = listResources(template, type).filter(([id]) => id.startsWith('Watchdog'));
  const [first, ...others] = rules;
  if (!first || others.length === 0)
    throw new Error(`The watchdog has fewer than two resources of the type ${type}`);
  const [id, rule] = first;
  const disabled = { ...rule, Properties: { ...rule.Properties, State: 'DISABLED' } };
  return { ...template, Resources: { ...template.Resources, [id]: disabled } };
}

describe('the guard allows', () => {
  it.each<[what: string, situation: Partial<Situation>]>([
    ['any deployment while no run is active', {}],
    ['a deployment without a store while no run is active', { next: withoutStore }],
    ['a first deployment', { deployed: undefined, table: 'absent' }],
    ['a removal while no run is active', { next: undefined }],
    ['a deployment while the new version is live, which keeps the watchdog', { run: LIVE }],
    [
      'a change of functions during a run that the operator accepts by its id',
      { run: ACTIVE, acceptedRun: 'spring' },
    ],
    [
      'a change of functions during an unknown run that the operator accepts',
      { run: { whyUnreadable: '' }, acceptedRun: 'unknown' },
    ],
    [
      'a deployment that adds a migration while the command line drives a live run',
      { run: LIVE, deployed: withoutStore },
    ],
    [
      'a deployment of a stage that has no migration, even with a run in its table',
      { run: ACTIVE, deployed: withoutStore, next: withoutStore },
    ],
    [
      'the removal of a stage that has no migration, even with a run in its table',
      { run: ACTIVE, deployed: withoutStore, next: undefined },
    ],
  ])('%s', (_, situation) => {
    expect(listRefusalReasons({ ...UNCHANGED_STAGE, ...situation })).toEqual([]);
  });
});

describe('the guard refuses', () => {
  it.each<[what: string, situation: Partial<Situation>, reason: RegExp]>([
    ['a change of functions during a run', { run: ACTIVE }, /changes functions .*run spring/],
    [
      'a deployment that removes the migration',
      { run: LIVE, next: withoutStore },
      /lacks the migration's functions and watchdog .* omits qdrantUrl/,
    ],
    [
      'a deployment that disables only one schedule of the watchdog',
      { run: LIVE, next: withDisabled(migrating, 'AWS::Events::Rule') },
      /disables the watchdog/,
    ],
    ['a removal during a run', { run: LIVE, next: undefined }, /removal deletes the functions/],
    [
      'a deployment while the run cannot be read',
      { run: { whyUnreadable: 'no response' } },
      /Cannot read .* no response/,
    ],
    ['a deployment that accepts another run', { run: ACTIVE, acceptedRun: 'autumn' }, /run spring/],
    [
      'a deployment whose functions accept requests without authentication',
      { next: withVariable('AUTH', 'open') },
      /without authentication/,
    ],
    [
      'a deployment over an empty left-over table',
      { deployed: undefined, table: 'left over, empty' },
      /discard-table/,
    ],
    [
      'a deployment over a left-over table with data',
      { deployed: undefined, table: 'left over, with data' },
      /has data/,
    ],
  ])('%s', (_, situation, reason) => {
    expect(listRefusalReasons({ ...UNCHANGED_STAGE, ...situation }).join(' ')).toMatch(reason);
  });

  it.each(PHASES.filter((phase) => phase !== 'live'))(
    'a change of functions in the phase %s',
    (phase) => {
      const run = { id: 'spring', phase };
      expect(listRefusalReasons({ ...UNCHANGED_STAGE, run }).join(' ')).toMatch(
        /changes functions/,
      );
    },
  );
});

describe('the settings of the migration', () => {
  const reasonsFor = (situation: Partial<Situation>) =>
    listRefusalReasons({ ...UNCHANGED_STAGE, run: LIVE, ...situation }).join(' ');

  it.each(Object.entries(SETTINGS))(
    'cannot be changed or omitted while a run is active: %s',
    (parameter, variable) => {
      const changed = reasonsFor({ next: withVariable(variable, 'ssm:/another') });
      expect(changed).toContain(`The new template changes ${parameter} while the run spring`);
      const omitted = reasonsFor({ next: withVariable(variable, undefined) });
      expect(omitted).toContain(`The new template omits ${parameter} while the run spring`);
    },
  );

  it.each<[what: string, situation: Partial<Situation>, reason: string | RegExp]>([
    [
      'cannot be added while a run is active',
      { deployed: withVariable(SETTINGS.migrationWebhookUrl, undefined) },
      'changes migrationWebhookUrl while',
    ],
    [
      'are refused together if several change',
      { next: JSON.parse(JSON.stringify(migrating).replaceAll('.example', '.test')) },
      /changes qdrantUrl, memoryBackendUrl, .*artifactsUrl/,
    ],
    [
      'include the concurrency that Lambda reserves for the watchdog',
      {
        next: withFunctions((properties: object) => {
          delete (properties as { ReservedConcurrentExecutions?: number })
            .ReservedConcurrentExecutions;
        }),
      },
      'omits reservedConcurrency while',
    ],
  ])('%s', (_, situation, reason) => {
    expect(reasonsFor(situation)).toMatch(reason);
  });

  it('can change if the operator accepts the run, or no run is active', () => {
    const next = withVariable(SETTINGS.neo4jUrl, 'bolt://another');
    expect(reasonsFor({ next, acceptedRun: 'spring' })).toBe('');
    expect(reasonsFor({ next, run: undefined })).toBe('');
  });

  it('include every variable that only functions of the migration have', () => {
    const variableNames = (functions: readonly [string, FunctionProperties][]) =>
      functions.flatMap(([, { Environment }]) => Object.keys(Environment.Variables));
    const shared = variableNames(listApiFunctions(migrating));
    const ownVariables = variableNames(listMigrationFunctions(migrating)).filter(
      (name) => !shared.includes(name),
    );
    // ARTIFACTS_BUCKET_OWNER follows from artifactsUrl.
    const settings = ownVariables.filter((name) => name !== 'ARTIFACTS_BUCKET_OWNER');
    expect([...new Set(settings)].sort()).toEqual(Object.values(SETTINGS).sort());
  });
});

it('before packaging, the guard knows the same settings and schedules', () => {
  const planned = planTemplate(readService('migrating'));
  for (const run of [ACTIVE, LIVE]) {
    expect(listRefusalReasons({ ...UNCHANGED_STAGE, run, next: planned })).toEqual(
      listRefusalReasons({ ...UNCHANGED_STAGE, run }),
    );
  }
  expect(listRefusalReasons({ ...UNCHANGED_STAGE, run: LIVE, deployed: planned })).toEqual([]);
});

describe('a package that is deployed later', () => {
  const deploy = async (acceptance: { atDeploy: string; atPackaging: string }) => {
    const provider: { rollbackConfiguration?: object; compiledCloudFormationTemplate: object } = {
      compiledCloudFormationTemplate: migrating,
    };
    let custom = { deployDuringRun: acceptance.atDeploy, rollbackMinutes: '15' };
    const guard = createGuard({
      command: 'deploy',
      options: { package: 'folder' },
      service: () => ({ custom, provider }),
      respond: respondDuring(ACTIVE),
    });
    await guard.hooks.initialize();
    // Serverless Framework reads the settings of the package before the guard's next hook.
    custom = { deployDuringRun: acceptance.atPackaging, rollbackMinutes: '0' };
    await guard.hooks['before:deploy:deploy']();
    return provider;
  };

  it('is deployed during a run that this command accepts, and can be undone by alarms', async () => {
    const { rollbackConfiguration } = await deploy({ atDeploy: ACTIVE.id, atPackaging: '' });
    expect(rollbackConfiguration).toMatchObject({ MonitoringTimeInMinutes: 15 });
  });

  it('is refused during a run that was accepted at packaging time', async () => {
    await expect(deploy({ atDeploy: '', atPackaging: ACTIVE.id })).rejects.toThrow(
      /changes functions .*run spring/,
    );
  });
});

/** Responds as AWS does for a deployed stage with this run. */
function respondDuring({ id, phase }: typeof ACTIVE): NonNullable<GuardSpec['respond']> {
  return (request) => {
    if (!request.headers['x-amz-target']) return respondWith(migrating)(request);
    const { Key, TableName } = JSON.parse(new TextDecoder().decode(request.body));
    expect(TableName).toBe('restored');
    const isLock = isDeepStrictEqual(Key, marshall(LOCK_KEY));
    return [200, JSON.stringify({ Item: marshall(isLock ? { active_run: id } : { phase }) })];
  };
}

/** Responds as CloudFormation does for a stage that uses a restored table. */
function respondWith(template: Template): NonNullable<GuardSpec['respond']> {
  return ({ body }) => {
    if (
      Buffer.from(body ?? '')
        .toString()
        .includes('Action=DescribeStacks')
    ) {
      const parameter =
        '<member><ParameterKey>TableInUse</ParameterKey><ParameterValue>restored</ParameterValue></member>';
      const stacks = `<Stacks><member><Parameters>${parameter}</Parameters></member></Stacks>`;
      const result = `<DescribeStacksResult>${stacks}</DescribeStacksResult>`;
      return [200, `<DescribeStacksResponse>${result}</DescribeStacksResponse>`];
    }
    const text = JSON.stringify(template).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    const result = `<GetTemplateResult><TemplateBody>${text}</TemplateBody></GetTemplateResult>`;
    return [200, `<GetTemplateResponse>${result}</GetTemplateResponse>`];
  };
}

describe('a rollback', () => {
  const rollBack = (timestamp: string, respond?: GuardSpec['respond']) =>
    createGuard({ options: { timestamp }, ...(respond && { respond }) }).hooks[
      'before:rollback:rollback'
    ]();

  it('is refused for an unreadable timestamp, with the command that lists timestamps', async () => {
    await expect(rollBack('yesterday')).rejects.toThrow(/timestamp "yesterday".*deploy list/);
  });

  it('is refused for a timestamp without a deployment', async () => {
    const error = '<Error><Code>NoSuchKey</Code><Message>No such key</Message></Error>';
    const rollback = rollBack('1700000000000', ({ path }) => {
      expect(decodeURIComponent(path)).toContain(
        '1700000000000-2023-11-14T22:13:20.000Z/template.json',
      );
      return [404, error];
    });
    await expect(rollback).rejects.toThrow(/timestamp "1700000000000".*deploy list/);
  });
});

describe('alarms undo a deployment', () => {
  const planRollback = (changes: Partial<Parameters<typeof createRollbackConfiguration>[0]>) =>
    createRollbackConfiguration({
      deployed: migrating,
      next: migrating,
      minutes: 15,
      toArn: (name) => `arn:${name}`,
      ...changes,
    });
  const createTriggers = (...names: string[]) => ({
    RollbackTriggers: names.map((name) => ({
      Arn: `arn:finance-ledger-prod-${name}`,
      Type: 'AWS::CloudWatch::Alarm',
    })),
    MonitoringTimeInMinutes: 15,
  });
  const API_ALARMS = [
    'gateway-errors',
    'gateway-error-ratio',
    'transactions-errors',
    'categories-errors',
  ];

  it('if they are deployed and not removed', () => {
    expect(planRollback({})).toEqual(createTriggers(...API_ALARMS, 'canary-failed'));
    for (const templates of [{ deployed: withoutStore }, { next: withoutStore }]) {
      expect(planRollback(templates as object)).toEqual(createTriggers(...API_ALARMS));
    }
  });

  it("without the canary's alarm if the API's address changes: the new address resolves only after the DNS change", () => {
    const next = structuredClone(migrating);
    const [, { Properties }] = listResources<FunctionProperties>(
      next,
      'AWS::Lambda::Function',
    ).find(([id]) => id === 'CanaryLambdaFunction') as [string, { Properties: FunctionProperties }];
    Properties.Environment.Variables.API_URL = 'https://ledger.test';
    expect(planRollback({ next })).toEqual(createTriggers(...API_ALARMS));
  });

  it('but not a first deployment, nor if the operator forbids it', () => {
    for (const changes of [{ deployed: undefined }, { minutes: 0 }]) {
      expect(planRollback(changes)).toEqual({
        RollbackTriggers: [],
        MonitoringTimeInMinutes: 0,
      });
    }
  });

  it('and the release is gradual only if all alarms can undo it', () => {
    const isReleaseGradual = (
      changes: Partial<Parameters<typeof createRollbackConfiguration>[0]>,
    ) => {
      const templates = { deployed: migrating, next: migrating, ...changes };
      return isGradual({ ...templates, rollback: planRollback(changes) });
    };
    expect(isReleaseGradual({})).toBe(true);
    expect(isReleaseGradual({ minutes: 0 })).toBe(false);
    // A canary that is not watched yet, because it is new or its address changes, would stop a gradual release.
    expect(isReleaseGradual({ deployed: withoutStore })).toBe(false);
    expect(isReleaseGradual({ next: withoutStore })).toBe(true);
    // A package of an earlier release has no parameters.
    expect(isReleaseGradual({ next: { ...migrating, Parameters: {} } })).toBe(false);
  });

  it('but a change of the schema version is not gradual, because the previous release refuses newer items', () => {
    const rollback = planRollback({});
    const newer = { ...migrating, Metadata: { SchemaVersion: UPGRADES.length + 1 } };
    expect(migrating.Metadata).toEqual({ SchemaVersion: UPGRADES.length });
    expect(isGradual({ deployed: migrating, next: newer, rollback })).toBe(false);
    expect(isGradual({ deployed: newer, next: newer, rollback })).toBe(true);
  });

  it('and are at most as many as CloudFormation accepts', () => {
    expect(planRollback({}).RollbackTriggers.length).toBeLessThanOrEqual(5);
  });
});

describe('the table in use, a parameter of the stack,', () => {
  const provider: { stackParameters?: object; compiledCloudFormationTemplate: object } = {
    compiledCloudFormationTemplate: migrating,
  };
  const restored = [{ ParameterKey: 'TableInUse', ParameterValue: 'restored' }];

  it('survives a deployment', async () => {
    const respond = respondDuring(ACTIVE);
    const custom = { deployDuringRun: ACTIVE.id, rollbackMinutes: '0' };
    const guard = createGuard({ service: () => ({ custom, provider }), respond });
    await guard.hooks.initialize();
    await guard.hooks['before:deploy:deploy']();
    expect(provider.stackParameters).toEqual(restored);
  });

  it('survives a gradual deployment', async () => {
    const respond = respondDuring(ACTIVE);
    const custom = { deployDuringRun: ACTIVE.id, rollbackMinutes: '15' };
    const guard = createGuard({ service: () => ({ custom, provider }), respond });
    await guard.hooks.initialize();
    await guard.hooks['before:deploy:deploy']();
    expect(provider.stackParameters).toEqual([
      ...restored,
      { ParameterKey: 'Release', ParameterValue: 'gradual' },
    ]);
  });

  it('survives a rollback to a deployment before the restore', async () => {
    const respond: GuardSpec['respond'] = (request) =>
      request.path.includes('template.json')
        ? [200, JSON.stringify(withoutStore)]
        : respondWith(withoutStore)(request);
    const options = { timestamp: '1700000000000' };
    const guard = createGuard({ options, service: () => ({ provider }), respond });
    await guard.hooks['before:rollback:rollback']();
    expect(provider.stackParameters).toEqual(restored);
  });

  it('comes from the template in a first deployment', async () => {
    const absent = '<Code>ValidationError</Code><Message>Stack does not exist</Message>';
    const respond: GuardSpec['respond'] = ({ headers }) =>
      headers['x-amz-target']
        ? [400, JSON.stringify({ __type: 'ResourceNotFoundException' })]
        : [400, `<ErrorResponse><Error>${absent}</Error></ErrorResponse>`];
    const guard = createGuard({ service: () => ({ provider }), respond });
    await guard.hooks['before:deploy:deploy']();
    expect(provider.stackParameters).toEqual([]);
  });

  it('is the table of every function', () => {
    for (const template of [migrating, withoutStore]) {
      const functions = listResources<FunctionProperties>(template, 'AWS::Lambda::Function');
      for (const [, { Properties }] of functions) {
        expect(Properties.Environment.Variables.TABLE_NAME).toEqual({ Ref: 'TableInUse' });
      }
    }
  });
});
