// The endpoints of the memory backend: which of them it lacks, and what takes their place.
import {
  ENDPOINT_NAMES,
  type Endpoint,
  type EndpointName,
  type MemoryBackend,
} from '../adapters/http-memory-backend.ts';
import { ACCEPTABLE, type Plan, type Run } from '../runs/run.ts';
import { testUserOf } from '../runs/run-names.ts';
import type { Services } from '../services.ts';
import { type Finding, type Problem, problem } from './prerequisites.ts';

export async function checkHealth({ health }: Pick<MemoryBackend, 'health'>): Promise<Finding> {
  await health();
  return { detail: 'answers', problems: [] };
}

/** Endpoints that a backend may lack, and what takes their place. */
const INSTEAD: Partial<Readonly<Record<EndpointName, string>>> = {
  health: 'any answer counts as healthy',
  chat: 'the smoke test writes, searches and reads',
  stats: 'counts are those of searches and of the store',
  graph: 'counts as deprecated once the new version is deployed',
};

/** Health, and all endpoints that are missing as one list. */
export async function checkBackend(
  { backend }: Pick<Services, 'backend'>,
  run: Run,
): Promise<Finding> {
  await backend.health();
  const { missing, undetermined } = await backend.findMissing(testUserOf(run.runId));
  const without = missing.flatMap(({ name, request }) =>
    INSTEAD[name] ? [`without ${request}: ${INSTEAD[name]}`] : [],
  );
  const requests = (ones: readonly Endpoint[]) => ones.map(({ request }) => request);
  return {
    detail: ['answers', ...without, ...describeUndetermined(undetermined)].join('; '),
    problems: missing.length === ENDPOINT_NAMES.length ? OTHER_PATH : lacking(missing, run.plan),
    facts: { missing: requests(missing), undetermined: requests(undetermined) },
  };
}

// No problem yet: a search is tried with the key, and a write by the rebuild, long before the window.
function describeUndetermined(undetermined: readonly Endpoint[]): string[] {
  const byStatus = Map.groupBy(undetermined, ({ status }) => status);
  return [...byStatus].map(([status, endpoints]) => {
    const requests = endpoints.map(({ request }) => request).join(', ');
    return `${requests} answer ${status}, as does a path that nothing has: whether they exist is found out when they are used`;
  });
}

const OTHER_PATH = [
  {
    why: 'All of its endpoints answer 404 or 405.',
    remedy: 'Correct the path in MEMORY_BACKEND_URL: endpoints are put behind it.',
  },
];

function lacking(missing: readonly Endpoint[], { accepts }: Plan): Problem[] {
  const needed = missing.filter(({ name }) => !INSTEAD[name]).map(({ request }) => request);
  const map = 'with MEMORY_BACKEND_PATHS, such as search=/search';
  return [
    ...problem(needed.length > 0, `It has no ${needed.join(' and no ')}.`, `Map it ${map}.`),
    ...missing.flatMap(({ name, request }) => {
      const finding = `no-${name}`;
      const isAcceptable = ACCEPTABLE.some((one) => one === finding);
      const isFound = isAcceptable && !accepts.some((one) => one === finding);
      const remedy = `Map it ${map}; or go without it: --accept ${finding}.`;
      return problem(isFound, `It has no ${request}.`, remedy);
    }),
  ];
}
