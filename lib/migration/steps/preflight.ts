// Checks everything that can stand in the way of a migration, changes nothing, and reports all problems at once.
import { KEYWORD_SLOT } from '../points.ts';
import { testUserOf } from '../ports/memory-backend.ts';
import { Refusal } from '../refusals.ts';
import { storeReport } from '../runs/reports.ts';
import type { Run } from '../runs/run.ts';
import type { Forecast, Step, StepContext, StepRequest } from '../runs/step.ts';
import type { Scan } from '../scan.ts';
import type { Services } from '../services.ts';
import { checkKey, type KeyCheck } from './backend-key.ts';
import { premadeOf } from './premade.ts';
import {
  checkCollection,
  checkGraph,
  checkMemories,
  checkNames,
  checkRetention,
  checkSpace,
  checkStore,
  denseVectorOf,
  estimateSpace,
  type Prerequisite,
} from './prerequisites.ts';
import { scanCollection } from './recorded-counts.ts';

export const preflight: Step = {
  command: 'preflight',
  forecast: forecastPreflight,
  work: async (context) => {
    const { services, run, lease } = context;
    const examined = await examine(context);
    const retention = await checkRetention(services, lease);
    const prerequisites = [...examined.prerequisites, retention];
    const report = { ...examined, prerequisites };
    const { points, users } = report.source;
    const problems = prerequisites.flatMap(({ problems }) => problems);
    const evidence = await storeReport(services, {
      lease,
      name: 'preflight-report',
      content: report,
      facts: {
        problems: problems.length,
        points,
        users,
        keyOfTestUser: report.backend.keyOfTestUser,
      },
    });
    if (problems.length === 0) {
      return { done: true, evidence, report: { plan: run.plan, prerequisites } };
    }
    await withdrawEarlier(context);
    throw refusalOf(prerequisites, evidence.artifact);
  },
};

/** The plan and every prerequisite, also of a run that does not exist yet. */
export async function forecastPreflight(context: StepRequest): Promise<Forecast> {
  const { prerequisites } = await examine(context);
  return { plan: context.run.plan, prerequisites };
}

/** Of one prerequisite; the report has all of them. */
const MAX_REPORTED = 5;

function refusalOf(prerequisites: readonly Prerequisite[], report: string): Refusal {
  const failed = prerequisites.filter(({ problems }) => problems.length > 0);
  const lines = failed.map(({ name, problems }) => {
    const reported = problems.slice(0, MAX_REPORTED).map(({ why, remedy }) => `${why} ${remedy}`);
    const more = problems.length - reported.length;
    return `${name}: ${[...reported, ...(more > 0 ? [`And ${more} more.`] : [])].join(' ')}`;
  });
  return new Refusal('RefusedPrerequisites', `${lines.join(' ')} The report is ${report}.`);
}

async function examine({ services, run, input }: Omit<StepRequest, 'lease'>) {
  const { vectors, backend, preview, clock } = services;
  const { runId, plan } = run;
  const collection = plan.sourceCollection;
  const store = { version: await vectors.version(), nodes: await vectors.nodeCount() };
  await backend.health();
  // Nothing else is asked: some versions create their collection with the first other request. The first write of the
  // rebuild, long before the window, proves whom this one takes the key for.
  await preview?.health();
  const info = await vectors.collectionInfo(collection);
  const dense = denseVectorOf(info?.config.params.vectors);
  const first = [
    await checkStore(vectors),
    await checkNames(services, run, await premadeOf(services, run)),
    ...(info ? [checkCollection(info)] : []),
  ];
  const graph = await checkGraph(services, plan);
  const freeBytes = input.freeBytes ?? plan.freeBytes ?? null;
  // A collection of another kind, or one that forbids it, is not read.
  const isReadable = first.every(({ problems }) => problems.length === 0);
  const contents = isReadable ? await examineContents(services, run, freeBytes) : UNREAD;
  return {
    runId,
    at: clock().toISOString(),
    store,
    /** The user of the memory backend's key. */
    testUser: testUserOf(runId),
    backend: { keyOfTestUser: contents.keyOfTestUser, preview: preview ? 'healthy' : 'not given' },
    graph: graph.seen,
    space: contents.space,
    source: {
      collection,
      ...dense,
      hasKeywordSlot: info?.config.params.sparse_vectors?.[KEYWORD_SLOT] !== undefined,
      ...figuresOf(contents.scanned),
    },
    prerequisites: [...first, graph.prerequisite, ...contents.prerequisites],
  };
}

interface ContentsReport {
  readonly scanned?: Scan;
  readonly keyOfTestUser: KeyCheck['isOfTestUser'];
  readonly space: { readonly neededBytes: number; readonly freeBytes: number | null } | null;
  readonly prerequisites: readonly Prerequisite[];
}

const UNREAD: ContentsReport = { keyOfTestUser: 'not-asked', space: null, prerequisites: [] };

async function examineContents(
  services: Services,
  run: Run,
  freeBytes: number | null,
): Promise<ContentsReport> {
  const { vectors } = services;
  const { plan } = run;
  const key = await checkKey(services, run);
  const scanned = await scanCollection(services, run, plan.sourceCollection);
  const neededBytes = await estimateSpace(vectors, plan);
  return {
    scanned,
    keyOfTestUser: key.isOfTestUser,
    space: { neededBytes, freeBytes },
    prerequisites: [
      key.prerequisite,
      checkMemories(scanned.contents, plan),
      checkSpace(neededBytes, freeBytes, plan),
    ],
  };
}

function figuresOf(scanned: Scan | undefined) {
  const { points = 0, users = 0, expired = 0, unreachable } = scanned?.contents ?? {};
  const largest = scanned?.counts.largest(10) ?? [];
  return { points, users, expired, unreachable: unreachable ?? {}, largest };
}

// What it said holds no more, and nothing is to be built upon it.
async function withdrawEarlier({ run, note }: StepContext): Promise<void> {
  const { 'preflight-report': earlier, ...evidence } = run.evidence;
  if (earlier) await note({ evidence });
}
