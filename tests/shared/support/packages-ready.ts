// Vitest's setup file of the wiring tests: waits until the service is packaged.
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { inject } from 'vitest';
import { failureOf } from './package-service.ts';

for (const folder of Object.values(inject('packagedServices'))) {
  while (!existsSync(folder)) {
    if (existsSync(failureOf(folder))) throw new Error(readFileSync(failureOf(folder), 'utf8'));
    await delay(50);
  }
}
