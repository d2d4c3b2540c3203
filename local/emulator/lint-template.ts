// npm run lint:template: packages a stage with and without a migration, runs cfn-lint and checkov on the templates, and checks
// the policies in docs/. serverless/lint-exceptions.json has the reasons for which findings are accepted. The exit code is 1 if
// a finding has no reason, or a reason has no finding.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { createCommand, runProgram } from '../../processes/program.ts';
import { preparePython, whyPythonUnavailable } from '../../processes/python-tools.ts';
import { createResources } from '../../processes/resources.ts';
import { runServerless } from './emulated-stage.ts';
import {
  lintPolicies,
  matchesPattern,
  PUBLISHED_DATA_SCRIPT,
  publishedDataSchema,
} from './lint-policies.ts';
import { MIGRATING } from './migrating-parameters.ts';

const REQUIREMENTS = join(import.meta.dirname, 'linters.txt');
const EXCEPTIONS = join(import.meta.dirname, '../../serverless/lint-exceptions.json');

interface Finding {
  readonly linter: 'cfn-lint' | 'checkov' | 'policies';
  readonly rule: string;
  readonly message: string;
}

const exceptionsSchema = v.object({
  'cfn-lint': v.record(v.string(), v.string()),
  checkov: v.record(v.string(), v.string()),
  /** Reasons by action; a pattern such as `kms:*` covers several actions. */
  policies: v.record(v.string(), v.string()),
});

const templateSchema = v.object({
  Resources: v.record(v.string(), v.object({ Type: v.string() })),
});

const cfnLintSchema = v.array(
  v.object({
    Rule: v.object({ Id: v.string() }),
    Message: v.string(),
    Location: v.object({ Path: v.nullable(v.array(v.union([v.string(), v.number()]))) }),
  }),
);

const checkovSchema = v.object({
  results: v.object({
    failed_checks: v.array(
      v.object({ check_id: v.string(), check_name: v.string(), resource: v.string() }),
    ),
  }),
});

const resources = createResources();

const command = createCommand('npm run lint:template --', 'Lint the packaged templates of a stage.')
  .option('--stage <stage>', 'the stage to package', 'prod')
  .action(async ({ stage }) => {
    const reason = whyPythonUnavailable();
    if (reason) {
      console.log(`Skipped the template linters: ${reason} on this machine`);
      console.log('0 passed, 0 failed, 1 skipped');
      return;
    }
    const { alarmTopicArn } = MIGRATING;
    const templates = [
      await packageTemplate(stage, { alarmTopicArn }),
      await packageTemplate(stage, MIGRATING),
    ];
    const findings = await collectFindings(templates);
    const { unexplained, unused } = await compareWithExceptions(findings);
    for (const { linter, rule, message } of unexplained)
      console.log(`${linter} ${rule}: ${message}`);
    for (const rule of unused) console.log(`${rule} has a reason, but no finding: remove it`);
    const explained = findings.length - unexplained.length;
    console.log(`${explained} findings have a reason in serverless/lint-exceptions.json`);
    if (unexplained.length + unused.length > 0) process.exitCode = 1;
  });

await runProgram(command, { resources });

async function packageTemplate(
  stage: string,
  parameters: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = await resources.createTemporaryFolder('ledger-linted-');
  const templateOnly = { stage, environment: { ONLY_TEMPLATE: 'yes' }, resources };
  await runServerless(templateOnly, ['package', '--package', folder], parameters);
  return join(folder, 'cloudformation-template-update-stack.json');
}

async function collectFindings(templates: readonly string[]): Promise<Finding[]> {
  const python = await preparePython(resources, REQUIREMENTS);
  // cfn-lint cannot run with `-m`, so this calls the same function as its installed program.
  const cfnLint = await runLinter(python, [
    ...['-c', 'import sys; from cfnlint.runner import main; sys.exit(main())'],
    ...['--format', 'json', '--', ...templates],
  ]);
  const checkov = await runLinter(python, [
    ...['-m', 'checkov.main', '--framework', 'cloudformation'],
    ...templates.flatMap((template) => ['--file', template]),
    ...['--quiet', '--compact', '--skip-download', '--output', 'json'],
  ]);
  const types = [...new Set((await Promise.all(templates.map(readTypes))).flat())];
  const published = await runLinter(python, ['-c', PUBLISHED_DATA_SCRIPT, ...types]);
  return [
    ...(await lintPolicies(v.parse(publishedDataSchema, published), types)),
    ...v.parse(cfnLintSchema, cfnLint).map(({ Rule, Message, Location }) => ({
      linter: 'cfn-lint' as const,
      rule: Rule.Id,
      message: `${Message} (${(Location.Path ?? []).join('/')})`,
    })),
    ...v.parse(checkovSchema, checkov).results.failed_checks.map((check) => ({
      linter: 'checkov' as const,
      rule: check.check_id,
      message: `${check.check_name} (${check.resource})`,
    })),
  ];
}

async function readTypes(template: string): Promise<string[]> {
  const { Resources } = v.parse(templateSchema, JSON.parse(await readFile(template, 'utf8')));
  return Object.values(Resources).map(({ Type }) => Type);
}

// If a linter finds something, its exit code is not 0. The output is then a property of the error.
async function runLinter(program: string, args: readonly string[]): Promise<unknown> {
  const options = { maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(program, args, options).catch(
    (error: { stdout?: string }) => {
      if (!error.stdout) throw error;
      return { stdout: error.stdout };
    },
  );
  return JSON.parse(stdout);
}

async function compareWithExceptions(findings: readonly Finding[]) {
  const exceptions = v.parse(exceptionsSchema, JSON.parse(await readFile(EXCEPTIONS, 'utf8')));
  const findReason = ({ linter, rule }: Finding) =>
    Object.keys(exceptions[linter]).find((pattern) => matchesPattern(rule, pattern));
  const unexplained = findings.filter((finding) => !findReason(finding));
  const explainedRules = new Set(
    findings.map((finding) => `${finding.linter} ${findReason(finding)}`),
  );
  const unused = Object.entries(exceptions)
    .flatMap(([linter, reasons]) => Object.keys(reasons).map((rule) => `${linter} ${rule}`))
    .filter((name) => !explainedRules.has(name));
  return { unexplained, unused };
}
