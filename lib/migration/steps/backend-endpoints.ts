// Checks the endpoints of the memory backend: which are missing, and how the migration does without them.
import {
  ENDPOINT_NAMES,
  type Endpoint,
  type EndpointName,
} from '../adapters/http-memory-backend.ts';
import { testUserOf } from '../runs/run-names.ts';
import type { Services } from '../services.ts';
import { type Acceptable, type CheckContext, defineCheck, type Rule } from './prerequisites.ts';

interface Replacement {
  /** Behaviour of the migration without the endpoint */
  readonly instead: string;
  /** Finding that the operator must accept; absent if the endpoint is optional */
  readonly finding?: Acceptable;
}

const REPLACEMENTS: Partial<Readonly<Record<EndpointName, Replacement>>> = {
  health: { instead: 'any answer counts as healthy', finding: 'no-health' },
  chat: { instead: 'the smoke test writes, searches and reads', finding: 'no-chat' },
  stats: { instead: 'counts come from searches and the store', finding: 'no-stats' },
  graph: { instead: 'counts as deprecated once the new version is deployed' },
};

const MAP_IT = 'Map it with MEMORY_BACKEND_PATHS, such as search=/search';

interface Endpoints {
  readonly missing: readonly Endpoint[];
  readonly undetermined: readonly Endpoint[];
}

/** Checks that the backend is healthy, and lists all missing endpoints together. */
export const MEMORY_BACKEND = defineCheck({
  name: 'Memory backend',
  read: async ({ services: { backend }, run }: CheckContext<Pick<Services, 'backend'>>) => {
    await backend.health();
    return await backend.findMissing(testUserOf(run.runId));
  },
  detail: ({ missing, undetermined }) => {
    const replacements = missing.flatMap(({ name, request }) => {
      const { instead } = REPLACEMENTS[name] ?? {};
      return instead === undefined ? [] : [`without ${request}: ${instead}`];
    });
    return ['answers', ...replacements, ...describeUndetermined(undetermined)].join('; ');
  },
  facts: ({ missing, undetermined }) => ({
    missing: listRequests(missing),
    undetermined: listRequests(undetermined),
  }),
  rules: [
    {
      why: (endpoints) => lacksAll(endpoints) && 'All of its endpoints answer 404 or 405.',
      remedy: 'Correct the path in MEMORY_BACKEND_URL: the paths of endpoints are appended to it.',
    },
    {
      why: (endpoints) => {
        const required = endpoints.missing.filter(({ name }) => !REPLACEMENTS[name]);
        if (lacksAll(endpoints) || required.length === 0) return false;
        return `It has no ${listRequests(required).join(' and no ')}.`;
      },
      remedy: `${MAP_IT}.`,
    },
    ...ENDPOINT_NAMES.flatMap(defineAcceptableRule),
  ],
});

/** Requests only the health of the new version: with any other request, some versions would create their collection. */
export const NEW_VERSION = defineCheck({
  name: 'New version',
  isConfigured: ({ preview }: Services) => preview !== undefined,
  read: async ({ services: { preview } }: CheckContext) => await preview?.health(),
  detail: () => 'answers',
  rules: [],
});

function defineAcceptableRule(name: EndpointName): Rule<Endpoints>[] {
  const { finding } = REPLACEMENTS[name] ?? {};
  if (!finding) return [];
  const why = (endpoints: Endpoints) => {
    const endpoint = endpoints.missing.find((missing) => missing.name === name);
    return endpoint && !lacksAll(endpoints) && `It has no ${endpoint.request}.`;
  };
  return [{ why, remedy: `${MAP_IT}; or go without it: --accept ${finding}.`, accept: [finding] }];
}

// If all endpoints are missing, the address is wrong.
function lacksAll({ missing }: Endpoints): boolean {
  return missing.length === ENDPOINT_NAMES.length;
}

function listRequests(endpoints: readonly Endpoint[]): string[] {
  return endpoints.map(({ request }) => request);
}

// An undetermined endpoint is no problem: long before the window, the key check tries a search and the rebuild tries a write.
function describeUndetermined(undetermined: readonly Endpoint[]): string[] {
  const byStatus = Map.groupBy(undetermined, ({ status }) => status);
  return [...byStatus].map(([status, endpoints]) => {
    const requests = listRequests(endpoints).join(', ');
    return `${requests} answer ${status}, like an unknown path: only using them will show whether they exist`;
  });
}
