// npm run test:clients [-- NAME ...] generates the clients of docs/ledger/clients.md. It runs each client's example against an
// open service, and compares the amount that it returns. Then it runs the client's scenario against a service that requires keys,
// with its own ledger. Every scenario must print the same transcript, which covers every request that a client can send and every
// error that it can get. The API description must also pass Spectral's OpenAPI rules. A language whose tools are missing on this
// machine is reported as skipped.
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createCommand, runProgram } from '../../../processes/program.ts';
import { preparePython, whyPythonUnavailable } from '../../../processes/python-tools.ts';
import { createResources } from '../../../processes/resources.ts';
import {
  fetchOnce,
  JVM_OPTIONS,
  readOutput,
  runToEnd,
  unpackFromNpm,
  whyJavaUnavailable,
} from '../../../processes/tools.ts';
import { type GuideExample, listGuideExamples } from '../support/guide-examples.ts';
import { PROJECT } from '../support/running-service.ts';
import { type Services, startServices } from './services.ts';

const DOCUMENT = join(PROJECT, 'lib/ledger/http/openapi.json');
const SCENARIOS = join(import.meta.dirname, 'scenarios');
const TRANSCRIPT = readFileSync(join(SCENARIOS, 'transcript.txt'), 'utf8');
const KOTLIN_BUILD = join(import.meta.dirname, 'kotlin-pom.xml');
const POLLY = join(import.meta.dirname, 'polly.cs');
/** The npm package that contains the JSON library of the C# client */
const NEWTONSOFT = {
  name: '@microsoft.azure/autorest.csharp@2.3.102',
  path: 'autorest.csharp/src/bin/netcoreapp2.0/Newtonsoft.Json.dll',
};
/** The amount in every example. A 32-bit float would change it. */
const SHOWN_AMOUNT = '12345678.91';

const NPM_PACKAGES = [
  '@hey-api/openapi-ts@0.95.0',
  '@stoplight/spectral-cli@6.16.3',
  'openapi-fetch@0.17.0',
  'openapi-typescript@7.13.0',
  'typescript@5.9.3',
];
const OPENAPI_GENERATOR = 'org.openapitools:openapi-generator-cli:7.16.0';
const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';

const resources = createResources();

/** The folder in which a client is generated and run */
interface Workspace {
  readonly folder: string;
  /** Runs a program in the folder. @returns what it printed */
  readonly run: (command: string, ...args: readonly string[]) => Promise<string>;
  readonly write: (file: string, text: string) => Promise<void>;
}

interface Language {
  readonly whyUnavailable?: () => string | undefined;
  /** File in `scenarios/` to run after the example */
  readonly scenario: string;
  /** Generates the client. Also compiles it if that takes long, because two programs use it. */
  readonly generate: (workspace: Workspace) => Promise<unknown>;
  /** Runs a program with the client. @returns what it printed */
  readonly runCode: (workspace: Workspace, code: string) => Promise<string>;
}

const whyGoUnavailable = () => (readOutput('go', 'version') ? undefined : 'there is no Go');
const whyMavenUnavailable = () =>
  whyJavaUnavailable(17) ?? (readOutput('mvn', '--version') ? undefined : 'there is no Maven');

/** Languages by the words after the backticks of their code blocks. */
const LANGUAGES: Readonly<Record<string, Language>> = {
  'typescript openapi-fetch': {
    scenario: 'openapi-fetch.ts',
    generate: async ({ folder, run, write }) => {
      const tools = await installNpmTools();
      await prepareNode({ folder, write }, tools);
      await run(join(tools, '.bin/openapi-typescript'), DOCUMENT, '-o', 'ledger.ts');
    },
    runCode: async ({ run, write }, code) => {
      await write('first.ts', code);
      await run(join(await installNpmTools(), '.bin/tsc'), '-p', '.');
      return await run(process.execPath, 'first.ts');
    },
  },
  'typescript hey-api': {
    scenario: 'hey-api.ts',
    generate: async ({ folder, run, write }) => {
      const tools = await installNpmTools();
      await prepareNode({ folder, write }, tools);
      await run(join(tools, '.bin/openapi-ts'), '-i', DOCUMENT, '-o', 'ledger', '-s');
    },
    runCode: async ({ run, write }, code) => {
      await write('first.ts', code);
      await run(join(await installNpmTools(), '.bin/tsc'), '-p', '.');
      const esbuild = join(PROJECT, 'node_modules/.bin/esbuild');
      await run(
        esbuild,
        'first.ts',
        '--bundle',
        '--platform=node',
        '--format=esm',
        '--outfile=first.mjs',
      );
      return await run(process.execPath, 'first.mjs');
    },
  },
  'python openapi-python-client': {
    scenario: 'openapi-python-client.py',
    whyUnavailable: whyPythonUnavailable,
    generate: async ({ run }) => {
      const python = await installPythonTools();
      const options = ['--meta', 'none', '--output-path', 'ledger', '--overwrite'];
      await run(python, '-m', 'openapi_python_client', 'generate', '--path', DOCUMENT, ...options);
    },
    runCode: runPython,
  },
  'python openapi-generator': {
    scenario: 'openapi-generator.py',
    whyUnavailable: () => whyPythonUnavailable() ?? whyMavenUnavailable(),
    generate: (workspace) => generateWithJava(workspace, 'python'),
    runCode: runPython,
  },
  'go oapi-codegen': {
    scenario: 'oapi-codegen.go',
    whyUnavailable: whyGoUnavailable,
    generate: async ({ run, write }) => {
      await write('go.mod', 'module ledger\n\ngo 1.24\n');
      const options = ['-generate', 'types,client', '-package', 'main', '-o', 'ledger.go'];
      await run('go', 'run', OAPI_CODEGEN, ...options, DOCUMENT);
    },
    runCode: async ({ run, write }, code) => {
      await write('main.go', code);
      await run('go', 'mod', 'tidy');
      return await run('go', 'run', '.');
    },
  },
  'go openapi-generator': {
    scenario: 'openapi-generator.go',
    whyUnavailable: () => whyGoUnavailable() ?? whyMavenUnavailable(),
    generate: (workspace) => generateWithJava(workspace, 'go'),
    runCode: async ({ run, write }, code) => {
      await write('first/main.go', code);
      await run('go', 'mod', 'tidy');
      return await run('go', 'run', './first');
    },
  },
  'java openapi-generator': {
    scenario: 'Scenario.java',
    whyUnavailable: whyMavenUnavailable,
    generate: async (workspace) => {
      await generateWithJava(workspace, 'java');
      await compileWithMaven(workspace);
    },
    runCode: async (workspace, code) => {
      await workspace.write('first/First.java', code);
      return await workspace.run('java', '-cp', await readClassPath(workspace), 'first/First.java');
    },
  },
  'kotlin openapi-generator': {
    scenario: 'Scenario.kt',
    whyUnavailable: whyMavenUnavailable,
    generate: async (workspace) => {
      await generateWithJava(workspace, 'kotlin');
      // The generator writes a build for Gradle. Maven builds the Java client, so it builds the Kotlin client, too.
      await workspace.write('pom.xml', readFileSync(KOTLIN_BUILD, 'utf8'));
      await compileWithMaven(workspace);
    },
    runCode: async (workspace, code) => {
      await workspace.write('first/First.kt', code);
      await workspace.run('mvn', '-q', '-B', 'kotlin:test-compile@first');
      const classes = `target/test-classes:${await readClassPath(workspace)}`;
      return await workspace.run('java', '-cp', classes, 'FirstKt');
    },
  },
  'csharp openapi-generator': {
    scenario: 'Scenario.cs',
    whyUnavailable: () =>
      whyMavenUnavailable() ??
      (readOutput('mcs', '--version') ? undefined : 'there is no Mono (mcs)'),
    generate: async (workspace) => {
      const options = ['--library', 'httpclient', '--additional-properties=targetFramework=net48'];
      await generateWithJava(workspace, 'csharp', ...options);
      await workspace.write('Polly.cs', readFileSync(POLLY, 'utf8'));
      await copyFile(await fetchNewtonsoft(), join(workspace.folder, 'Newtonsoft.Json.dll'));
      const sources = ['-recurse:src/Org.OpenAPITools/*.cs', 'Polly.cs'];
      await compileWithMono(workspace, '-target:library', '-out:ledger.dll', ...sources);
    },
    runCode: async (workspace, code) => {
      await workspace.write('First.cs', code);
      await compileWithMono(workspace, '-r:ledger.dll', '-out:first.exe', 'First.cs');
      return await workspace.run('mono', 'first.exe');
    },
  },
  'rust openapi-generator': {
    scenario: 'scenario.rs',
    whyUnavailable: () =>
      whyMavenUnavailable() ??
      (readOutput('cargo', '--version') ? undefined : 'there is no Rust (cargo)'),
    generate: async (workspace) => {
      await generateWithJava(workspace, 'rust');
      await workspace.run(
        'cargo',
        'add',
        '--quiet',
        '--dev',
        'tokio',
        '-F',
        'macros,rt-multi-thread',
      );
    },
    runCode: async ({ run, write }, code) => {
      await write('examples/first.rs', code);
      const target = ['--target-dir', join(PROJECT, '.local/clients/cargo')];
      return await run('cargo', 'run', '--quiet', '--example', 'first', ...target);
    },
  },
};

const command = createCommand(
  'npm run test:clients --',
  'Generate clients from the API description and run their examples.',
)
  .argument('[names...]', 'code blocks of docs/ledger/clients.md, such as "go oapi-codegen"')
  .action(async (names) => {
    const examples = listGuideExamples()
      .filter(({ name }) => !name.endsWith(' catching-up'))
      .filter(({ name }) => names.length === 0 || names.includes(name));
    const services = await startServices(resources);
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const { title, outcome } of [
      ...(names.length === 0
        ? [{ title: 'Spectral', outcome: await attempt('Spectral', lint) }]
        : []),
      ...(await tryLanguages(examples, services)),
    ]) {
      counts[outcome] += 1;
      console.log(`${outcome}: ${title}`);
    }
    const { passed, failed, skipped } = counts;
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
    if (failed > 0 || passed === 0) process.exitCode = 1;
  });

await runProgram(command, { resources });

type Outcome = 'passed' | 'failed' | 'skipped';

/** Tries one language after the other, because each compiler uses every core. */
async function tryLanguages(examples: readonly GuideExample[], services: Services) {
  const outcomes: { title: string; outcome: Outcome }[] = [];
  for (const example of examples) {
    outcomes.push({ title: example.name, outcome: await tryLanguage(example, services) });
  }
  return outcomes;
}

async function tryLanguage({ name, code }: GuideExample, services: Services): Promise<Outcome> {
  const language = LANGUAGES[name];
  const obstacle = language ? language.whyUnavailable?.() : 'this command does not compile it yet';
  if (!language || obstacle !== undefined) {
    console.log(`Skipped ${name}: ${obstacle}`);
    if (process.env.SKIPPED_TESTS) appendFileSync(process.env.SKIPPED_TESTS, `${name}\n`);
    return 'skipped';
  }
  return await attempt(name, async () => {
    const workspace = await openWorkspace();
    await language.generate(workspace);
    Object.assign(process.env, services.open);
    assert.equal((await language.runCode(workspace, code)).trim(), SHOWN_AMOUNT);
    Object.assign(process.env, await services.withKeys(name.replace(' ', '-')));
    const scenario = await readFile(join(SCENARIOS, language.scenario), 'utf8');
    assert.equal((await language.runCode(workspace, scenario)).trim(), TRANSCRIPT.trim());
  });
}

async function attempt(title: string, work: () => Promise<unknown>): Promise<Outcome> {
  const started = Date.now();
  try {
    await work();
    console.log(`${title}: ${Math.round((Date.now() - started) / 1_000)} s`);
    return 'passed';
  } catch (error) {
    console.error(`${title}: ${error instanceof Error ? error.message : error}`);
    return 'failed';
  }
}

async function openWorkspace(): Promise<Workspace> {
  const folder = await resources.createTemporaryFolder('ledger-client-');
  return {
    folder,
    run: (program, ...args) => runToEnd(resources, { command: program, args, folder }),
    write: async (file, text) => {
      const path = join(folder, file);
      await mkdir(join(path, '..'), { recursive: true });
      await writeFile(path, text);
    },
  };
}

async function lint(): Promise<void> {
  const { run, write } = await openWorkspace();
  await write('rules.yaml', 'extends: ["spectral:oas"]\n');
  const spectral = join(await installNpmTools(), '.bin/spectral');
  await run(spectral, 'lint', DOCUMENT, '--ruleset', 'rules.yaml');
}

/** Installs generators from npm that are not dependencies of this project. @returns their node_modules */
async function installNpmTools(): Promise<string> {
  const folder = await fetchOnce(resources, 'clients/npm', async (draft, run) => {
    await run('npm', 'init', '-y');
    await run('npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts', ...NPM_PACKAGES);
    return draft;
  });
  return join(folder, 'node_modules');
}

async function prepareNode(
  { folder, write }: Pick<Workspace, 'folder' | 'write'>,
  tools: string,
): Promise<void> {
  await symlink(tools, join(folder, 'node_modules'));
  await write('package.json', '{ "type": "module" }');
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    module: 'esnext',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    target: 'es2022',
    types: ['node'],
    typeRoots: [join(PROJECT, 'node_modules/@types')],
  };
  await write('tsconfig.json', JSON.stringify({ compilerOptions }));
}

async function installPythonTools(): Promise<string> {
  return await preparePython(resources, join(import.meta.dirname, 'python-clients.txt'));
}

async function runPython({ run, write }: Workspace, code: string): Promise<string> {
  await write('first.py', code);
  return await run(await installPythonTools(), 'first.py');
}

async function compileWithMaven({ run }: Workspace): Promise<void> {
  const goals = ['compile', 'dependency:build-classpath', '-Dmdep.outputFile=classpath'];
  await run('mvn', '-q', '-B', '-DskipTests', ...goals);
}

/** @returns the class path of a client that Maven has compiled */
async function readClassPath({ folder }: Workspace): Promise<string> {
  return `target/classes:${(await readFile(join(folder, 'classpath'), 'utf8')).trim()}`;
}

async function compileWithMono({ run }: Workspace, ...options: readonly string[]): Promise<void> {
  const libraries = [
    ...['System.Net.Http', 'System.Runtime.Serialization', 'System.Web'],
    ...['System.ComponentModel.DataAnnotations', 'Facades/System.Runtime'],
    'Newtonsoft.Json.dll',
  ];
  await run('mcs', '-langversion:7.2', `-r:${libraries}`, ...options);
}

async function fetchNewtonsoft(): Promise<string> {
  const folder = await fetchOnce(resources, 'clients/newtonsoft', async (draft, run) => {
    await unpackFromNpm(draft, run, NEWTONSOFT);
    return draft;
  });
  return join(folder, NEWTONSOFT.path);
}

async function generateWithJava(
  { run }: Workspace,
  generator: string,
  ...extraOptions: readonly string[]
): Promise<void> {
  const folder = await fetchOnce(
    resources,
    'clients/openapi-generator',
    async (draft, fetchWith) => {
      await fetchWith(
        'mvn',
        ...[
          '-q',
          '-B',
          'dependency:copy',
          `-Dartifact=${OPENAPI_GENERATOR}`,
          '-DoutputDirectory=.',
        ],
      );
      return draft;
    },
  );
  const [, name, version] = OPENAPI_GENERATOR.split(':');
  const options = ['generate', '-g', generator, '-i', DOCUMENT, '-o', '.', ...extraOptions];
  await run('java', ...JVM_OPTIONS, '-jar', join(folder, `${name}-${version}.jar`), ...options);
}
