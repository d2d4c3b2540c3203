// Lists the graph dumps of a run, checks a dump and the target graph, or restores the dump there and compares.
import {
  digestDump,
  listDumpKeys,
  readDumpManifest,
  readSchema,
  verifyDump,
} from '../../../lib/migration/graph/dump.ts';
import { type ArtifactStore, assertRecorded } from '../../../lib/migration/ports/artifacts.ts';
import type { GraphTarget, RestoreState } from './graph-target.ts';
import { type GraphDifference, restoreGraph } from './restore.ts';

export type RestoreRequest =
  | { readonly run: string }
  | {
      /** Prefix of the dump's keys */
      readonly dump: string;
      /** True to restore the dump, false to check it */
      readonly executes: boolean;
      /** Digest of the dump in the run's record; without a digest, any dump is accepted */
      readonly digest?: string | undefined;
    };

export interface Dump {
  readonly dump: string;
  readonly finishedAt: string;
  readonly nodes: number;
  readonly relationships: number;
}

export type RestoreOutcome =
  | { readonly dumps: readonly Dump[] }
  | {
      readonly dryRun: true;
      readonly dump: Dump;
      readonly digest: string;
      /** Statements for constraints and indexes that a restore would run */
      readonly statements: readonly string[];
      /** `foreign` is the number of nodes that no unfinished restore has created */
      readonly target: { readonly foreign: number; readonly state: RestoreState };
    }
  | {
      readonly dryRun: false;
      readonly dump: Dump;
      readonly differences: readonly GraphDifference[];
    };

interface RestoreParts {
  readonly artifacts: ArtifactStore;
  readonly target: GraphTarget;
}

/** @throws Refusal for a dump that is missing or damaged, and for a graph that contains anything else */
export async function runCommand(
  request: RestoreRequest,
  { artifacts, target }: RestoreParts,
): Promise<RestoreOutcome> {
  if ('run' in request) return { dumps: await listDumps(request.run, artifacts) };
  const { dump: prefix, executes } = request;
  const digest = await digestDump(artifacts, prefix);
  assertRecorded(listDumpKeys(prefix).manifest, digest, request.digest ?? digest);
  if (!executes) {
    const { contents, finishedAt } = await verifyDump(artifacts, prefix);
    const targetState = {
      foreign: await target.countForeignNodes(),
      state: await target.readRestoreState(),
    };
    const statements = (await readSchema(artifacts, prefix)).map(({ statement }) => statement);
    const dump = toDump(prefix, { contents, finishedAt });
    return { dryRun: true, dump, digest, statements, target: targetState };
  }
  const { manifest, differences } = await restoreGraph({ artifacts, prefix, target });
  return { dryRun: false, dump: toDump(prefix, manifest), differences };
}

/** Lists finished dumps, the latest first. */
async function listDumps(runId: string, artifacts: ArtifactStore): Promise<Dump[]> {
  const keys = await Array.fromAsync(artifacts.list(`${runId}/graph-`), ({ key }) => key);
  const prefixes = keys
    .map((key) => key.slice(0, key.lastIndexOf('/')))
    .filter((prefix, index) => keys[index] === listDumpKeys(prefix).manifest);
  const dumps = await Promise.all(
    prefixes.map(async (prefix) => toDump(prefix, await readDumpManifest(artifacts, prefix))),
  );
  return dumps.toSorted((first, second) => (first.finishedAt < second.finishedAt ? 1 : -1));
}

function toDump(
  dump: string,
  {
    finishedAt,
    contents: { nodes, relationships },
  }: {
    readonly finishedAt: string;
    readonly contents: { readonly nodes: number; readonly relationships: number };
  },
): Dump {
  return { dump, finishedAt, nodes, relationships };
}
