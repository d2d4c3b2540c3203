// A plug-in of the packager: serverless.yml includes what the other files of this folder generate, as `${made:slashRoutes}`.

import type { Configuration } from './configuration.ts';
import { releaseMetadata } from './deploy-rollback.ts';
import { customDomain, domainOutputs, hasOwnAddress } from './domain.ts';
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

type Make = (configuration: Configuration) => unknown;

const MAKERS: Readonly<Record<string, Make>> = {
  accessLogFormat,
  allowedOrigins,
  backupOutputs,
  backups,
  canaryFunctions,
  canaryRole,
  customDomain,
  domainOutputs,
  hasOwnAddress,
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

class MadeConfiguration {
  readonly configurationVariablesSources = {
    made: {
      /** @throws Error for an unknown name */
      async resolve({ address, ...configuration }: Reference): Promise<{ value: unknown }> {
        const make = MAKERS[address];
        if (make === undefined)
          throw new Error(`Nothing makes "${address}": serverless/generated-configuration.ts`);
        return { value: await make(configuration) };
      },
    },
  };
}

// The packager requires this file, and calls the export of this name.
export { MadeConfiguration as 'module.exports' };
