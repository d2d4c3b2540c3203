// Looks at everything that can be known to stand in the way, changes nothing, and reports or refuses.
import { KEYWORD_SLOT } from '../copy/keyword-slot.ts';
import { testUserOf } from '../ports/memory-backend.ts';
import { storeReport } from '../ports/reports.ts';
import { type Census, takeCensus } from '../proof/user-census.ts';
import { userDigest } from '../proof/user-digest.ts';
import { Refusal } from '../refusals.ts';
import type { Run } from '../runs/run.ts';
import type { Step } from '../runs/step.ts';
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

export const preflight: Step = {
  command: 'preflight',
  forecast: ({ services, run }) => examine(services, run),
  work: async ({ services, run, lease }) => {
    const report = await examine(services, run);
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
    refuseOver(report.findings, reference.artifact);
    return { done: true, evidence: reference };
  },
};

export type PreflightReport = Awaited<ReturnType<typeof examine>>;

async function examine(services: Services, run: Run) {
  const { vectors, backend, preview, clock } = services;
  const { runId, plan } = run;
  const collection = plan.sourceCollection;
  const store = { version: await vectors.version(), nodes: await vectors.nodeCount() };
  await backend.health();
  // Not asked for more: some versions build their collection with the first other question. Whom this one takes
  // the key for is proved by the first write of the rebuild, long before the window.
  await preview?.health();
  const graph = await checkGraph(services, plan);
  const info = await vectors.collectionInfo(collection);
  const obstacles = [
    ...(await checkNodes(vectors)),
    ...(await checkNames(services, run)),
    ...graph.findings,
    ...(info ? checkLayout(info) : []),
  ];
  // A collection of another kind, or one that forbids it, is not gone through.
  const { census, key } = obstacles.length === 0 ? await lookThrough(services, run) : NOT_LOOKED;
  return {
    runId,
    at: clock().toISOString(),
    store,
    /** Whom the key of the memory backend has to map to. */
    testUser: testUserOf(runId),
    backend: { keyOfTestUser: key.isOfTestUser, preview: preview ? 'healthy' : 'not given' },
    graph: graph.seen,
    source: {
      collection,
      ...denseVectorOf(info?.config.params.vectors),
      hasKeywordSlot: info?.config.params.sparse_vectors?.[KEYWORD_SLOT] !== undefined,
      ...figuresOf(census),
    },
    findings: [...obstacles, ...key.findings, ...(census ? checkUsers(census, plan) : [])],
  };
}

interface Look {
  readonly census: Census | undefined;
  readonly key: KeyCheck;
}

const NOT_LOOKED: Look = {
  census: undefined,
  key: { isOfTestUser: 'not-asked', findings: [] },
};

async function lookThrough(services: Services, run: Run): Promise<Look> {
  const { vectors, clock } = services;
  const collection = run.plan.sourceCollection;
  const key = await checkKey(services, run);
  return { key, census: await takeCensus(vectors, { collection, now: clock() }) };
}

function figuresOf(census: Census | undefined) {
  const { points = 0, users = new Map<string, number>(), expired = 0, withText = 0 } = census ?? {};
  return {
    points,
    users: users.size,
    withText,
    expired,
    unreachable: census?.unreachable ?? {},
    largest: [...users]
      .toSorted(([, one], [, other]) => other - one)
      .slice(0, 10)
      .map(([userId, count]) => ({ user: userDigest(userId), points: count })),
  };
}

function refuseOver(findings: readonly Finding[], report: string): void {
  const [first] = findings;
  if (!first) return;
  const why = findings.map((finding) => finding.why).join(' ');
  throw new Refusal(first.name, `${why} The report is ${report}.`);
}
