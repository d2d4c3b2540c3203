// Vitest's setup file of the wiring tests: waits until the service is packaged.
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { inject } from 'vitest';
import { nameFailureFile } from './package-service.ts';

for (const folder of Object.values(inject('packagedServices'))) {
  while (!existsSync(folder)) {
    if (existsSync(nameFailureFile(folder)))
      throw new Error(readFileSync(nameFailureFile(folder), 'utf8'));
    await delay(50);
  }
}
