// npx node .ci/audit.ts: lists known vulnerabilities of the installed packages. Exit code 1: at least one is high or critical.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { createCommand, EXIT, runProgram } from '../processes/program.ts';

const reportSchema = v.object({
  vulnerabilities: v.record(
    v.string(),
    v.object({ severity: v.string(), range: v.string(), isDirect: v.boolean() }),
  ),
});

const command = createCommand(
  'npx node .ci/audit.ts',
  'Look for known vulnerabilities of packages.',
).action(async () => {
  const output = await audit();
  const report = v.safeParse(reportSchema, output);
  if (!report.success) {
    const { message = 'no report' } = output as { message?: string };
    console.log(
      `Skipped the audit of packages, because the registry returned no report: ${message}`,
    );
    console.log('0 passed, 0 failed, 1 skipped');
    return;
  }
  const found = Object.entries(report.output.vulnerabilities);
  for (const [name, { severity, range }] of found) console.log(`${severity}: ${name} ${range}`);
  const serious = found.filter(([, { severity }]) => /^(high|critical)$/.test(severity));
  console.log(`${serious.length} high or critical of ${found.length} findings`);
  if (serious.length > 0) process.exitCode = EXIT.failed;
});

await runProgram(command);

// npm exits with a code other than 0 if it finds something.
async function audit(): Promise<unknown> {
  const options = { maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)('npm', ['audit', '--json'], options).catch(
    (error: { stdout?: string }) => {
      if (!error.stdout) throw error;
      return { stdout: error.stdout };
    },
  );
  return JSON.parse(stdout);
}
