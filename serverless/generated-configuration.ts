// A plugin of Serverless Framework: serverless.yml includes what the other files in this folder generate, with references such
// as `${generated:slashRoutes}`.
import type { Configuration } from './configuration.ts';
import { releaseMetadata } from './deploy-rollback.ts';
import { customDomain, domainOutputs, hasCustomDomain } from './domain.ts';
import { accessLogFormat, allowedOrigins, routeSettings, slashRoutes } from './gateway.ts';
import { backupOutputs, backups } from './ledger/backups.ts';
import { canaryFunctions, canaryRole } from './ledger/canary.ts';
import { savedQueries } from './ledger/saved-queries.ts';
import {
  migrationFunctions,
  migrationRoles,
  migrationStateMachines,
  migrationWatchdog,
} from './migration/functions.ts';
import { monitoring } from './monitoring.ts';
import { ledgerRoles } from './roles.ts';
import { ledgerTable, tableInUse } from './table.ts';

type Generate = (configuration: Configuration) => unknown;

const GENERATORS: Readonly<Record<string, Generate>> = {
  accessLogFormat,
  allowedOrigins,
  backupOutputs,
  backups,
  canaryFunctions,
  canaryRole,
  customDomain,
  domainOutputs,
  hasCustomDomain,
  ledgerRoles,
  ledgerTable,
  migrationFunctions,
  migrationRoles,
  migrationStateMachines,
  migrationWatchdog,
  monitoring,
  releaseMetadata,
  routeSettings,
  savedQueries,
  slashRoutes,
  tableInUse,
};

interface Reference extends Configuration {
  readonly address: string;
}

class GeneratedConfiguration {
  readonly configurationVariablesSources = {
    generated: {
      /** @throws Error for an unknown name */
      async resolve({ address, ...configuration }: Reference): Promise<{ value: unknown }> {
        const generate = GENERATORS[address];
        if (generate === undefined)
          throw new Error(`serverless/generated-configuration.ts has no generator "${address}"`);
        return { value: await generate(configuration) };
      },
    },
  };
}

// Serverless Framework loads this file, and calls the export of this name.
export { GeneratedConfiguration as 'module.exports' };
