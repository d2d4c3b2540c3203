// Runs Neo4j Community from Maven Central, with its data in a temporary folder.
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UserError } from '../../../lib/shared/user-error.ts';
import type { Resources } from '../../../processes/resources.ts';
import type { Service, StartedService } from '../../../processes/service.ts';
import {
  fetchOnce,
  JVM_OPTIONS,
  type RunInDraftFolder,
  readOutput,
  whyJavaUnavailable,
} from '../../../processes/tools.ts';

const MIN_JAVA_VERSION = 17;
const COPY_JARS = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
const POM = join(import.meta.dirname, 'pom.xml');
const PROGRAM = join(import.meta.dirname, 'Neo4jServer.java');

export const neo4jServer: Service = {
  title: 'Neo4j Community',
  whyUnavailable,
  start,
};

function whyUnavailable(): string | undefined {
  // A Java runtime alone is not enough: starting the program also compiles it.
  if (!readOutput('javac', '--version')) return `there is no JDK ${MIN_JAVA_VERSION} or newer`;
  const javaProblem = whyJavaUnavailable(MIN_JAVA_VERSION);
  if (javaProblem) return javaProblem;
  return readOutput('mvn', '--version') ? undefined : 'there is no Maven to fetch it with';
}

async function start(resources: Resources): Promise<StartedService> {
  const jars = await fetchOnce(resources, `neo4j/${await readVersion()}`, fetchJars);
  const data = await resources.createTemporaryFolder('neo4j-');
  let lastLine = '';
  const { promise: address, resolve } = Promise.withResolvers<string | undefined>();
  const child = resources.startProgram({
    command: 'java',
    args: [...JVM_OPTIONS, '-cp', join(jars, '*'), PROGRAM, data],
    // Neo4j flushes its data before it ends.
    graceMilliseconds: 20_000,
    onLine: (line) => {
      lastLine = line || lastLine;
      const [, url] = /^listening (\S+)$/.exec(line) ?? [];
      if (url) resolve(url);
    },
  });
  child.ended.then(() => resolve(undefined));
  const url = await address;
  if (!url) throw new UserError(`Neo4j did not start: ${lastLine}`);
  return { environment: { NEO4J_URL: url }, ended: child.ended };
}

async function readVersion(): Promise<string> {
  const [, version] =
    /<artifactId>neo4j<\/artifactId>\s*<version>([\d.]{3,})</.exec(await readFile(POM, 'utf8')) ??
    [];
  if (!version) throw new UserError(`${POM} names no version of Neo4j`);
  return version;
}

// Maven checks every archive against the checksum published beside it.
async function fetchJars(draft: string, run: RunInDraftFolder): Promise<string> {
  await copyFile(POM, join(draft, 'pom.xml'));
  const jars = join(draft, 'jars');
  const args = [
    '--quiet',
    '--batch-mode',
    COPY_JARS,
    '-DincludeScope=runtime',
    `-DoutputDirectory=${jars}`,
  ];
  await run('mvn', ...args);
  return jars;
}
