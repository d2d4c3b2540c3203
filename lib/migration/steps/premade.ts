// What a new version that is up already has made at its start: mem0 builds its collection as soon as it is
// configured, and does not look again whether it is still there.
import { Refusal } from '../refusals.ts';
import type { Run } from '../runs/run.ts';
import { builtCollectionsOf } from '../runs/run-names.ts';
import type { Services } from '../services.ts';
import { proveSlot } from './warm-up-proof.ts';

type Reached = Pick<Services, 'vectors' | 'preview'>;

/** Those of the run's collections that are there, empty, and laid out as they have to be. */
export async function premadeOf(services: Reached, run: Run): Promise<string[]> {
  if (!services.preview) return [];
  const there = await services.vectors.listCollections();
  const premade = [];
  for (const name of builtCollectionsOf(run)) {
    if (there.includes(name) && (await isUntouched(services, run, name))) premade.push(name);
  }
  return premade;
}

async function isUntouched({ vectors }: Reached, { plan }: Run, made: string): Promise<boolean> {
  try {
    await proveSlot(vectors, { source: plan.sourceCollection, made });
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
  return (await vectors.count(made)) === 0;
}
