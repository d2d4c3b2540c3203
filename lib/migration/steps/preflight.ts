// Looks at everything that can be known to stand in the way, changes nothing, and reports or refuses.
import { KEYWORD_SLOT } from '../points.ts';
import { testUserOf } from '../ports/memory-backend.ts';
import { storeReport } from '../runs/reports.ts';
import type { Run } from '../runs/run.ts';
import type { Step, StepContext, Turn } from '../runs/step.ts';
import type { Scan } from '../scan.ts';
import type { Services } from '../services.ts';
import { checkKey, type KeyCheck } from './backend-key.ts';
import { checkGraph } from './graph-check.ts';
import {
  checkLayout,
  checkNames,
  checkNodes,
  checkUsers,
  denseVectorOf,
  type Finding,
} from './preflight-checks.ts';
import { refusalOver } from './preflight-refusal.ts';
import { premadeOf } from './premade.ts';
import { scanCollection } from './recorded-counts.ts';
import { checkSpace, estimateSpace, type SpaceCheck } from './space-check.ts';

export const preflight: Step = {
  command: 'preflight',
  work: async (turn) => {
    const { services, lease } = turn;
    const report = await examine(turn);
    const { points, users } = report.source;
    const reference = await storeReport(services, {
      lease,
      name: 'preflight-report',
      content: report,
      facts: {
        findings: report.findings.length,
        points,
        users,
        keyOfTestUser: report.backend.keyOfTestUser,
      },
    });
    if (report.findings.length > 0) await withdrawEarlier(turn);
    const refusal = refusalOver(report.findings, reference.artifact);
    if (refusal) throw refusal;
    return { done: true, evidence: reference };
  },
};

async function examine({ services, run, input }: StepContext) {
  const { vectors, backend, preview, clock } = services;
  const { runId, plan } = run;
  const collection = plan.sourceCollection;
  const store = { version: await vectors.version(), nodes: await vectors.nodeCount() };
  await backend.health();
  // Not asked for more: some versions build their collection with the first other question. Whom this one takes
  // the key for is proved by the first write of the rebuild, long before the window.
  await preview?.health();
  const info = await vectors.collectionInfo(collection);
  const dense = denseVectorOf(info?.config.params.vectors);
  const obstacles = [
    ...(await checkNodes(vectors)),
    ...(await checkNames(services, run, await premadeOf(services, run))),
    ...(info ? checkLayout(info) : []),
  ];
  const graph = await checkGraph(services, plan);
  const freeBytes = input.freeBytes ?? plan.freeBytes ?? null;
  // A collection of another kind, or one that forbids it, is not gone through.
  const look = obstacles.length === 0 ? await lookThrough(services, run, freeBytes) : NOT_LOOKED;
  return {
    runId,
    at: clock().toISOString(),
    store,
    /** Whom the key of the memory backend has to map to. */
    testUser: testUserOf(runId),
    backend: { keyOfTestUser: look.keyOfTestUser, preview: preview ? 'healthy' : 'not given' },
    graph: graph.seen,
    space: look.space,
    source: {
      collection,
      ...dense,
      hasKeywordSlot: info?.config.params.sparse_vectors?.[KEYWORD_SLOT] !== undefined,
      ...figuresOf(look.scanned),
    },
    findings: [...obstacles, ...graph.findings, ...look.findings],
  };
}

interface Look {
  readonly scanned?: Scan;
  readonly keyOfTestUser: KeyCheck['isOfTestUser'];
  readonly space: SpaceCheck | null;
  readonly findings: readonly Finding[];
}

const NOT_LOOKED: Look = { keyOfTestUser: 'not-asked', space: null, findings: [] };

async function lookThrough(services: Services, run: Run, freeBytes: number | null): Promise<Look> {
  const { vectors } = services;
  const { plan } = run;
  const key = await checkKey(services, run);
  const scanned = await scanCollection(services, run, plan.sourceCollection);
  const space = { neededBytes: await estimateSpace(vectors, plan), freeBytes };
  const users = checkUsers(scanned.contents, plan);
  const findings = [...key.findings, ...users, ...checkSpace(space, plan)];
  return { scanned, keyOfTestUser: key.isOfTestUser, space, findings };
}

function figuresOf(scanned: Scan | undefined) {
  const { points = 0, users = 0, expired = 0, unreachable } = scanned?.contents ?? {};
  const largest = scanned?.counts.largest(10) ?? [];
  return { points, users, expired, unreachable: unreachable ?? {}, largest };
}

// What it said holds no more, and nothing is to be built upon it.
async function withdrawEarlier({ run, note }: Turn): Promise<void> {
  const { 'preflight-report': earlier, ...evidence } = run.evidence;
  if (earlier) await note({ evidence });
}
