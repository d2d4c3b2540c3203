// Vectors are compared one by one, or a sample of them where the plan says so: which, and how many, is evidence.
import { describe, expect, it } from 'vitest';
import { readReport } from '../../../../lib/migration/runs/reports.ts';
import { type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';

const MEMORIES = 60;

async function verified(plan: Record<string, unknown> = {}): Promise<Migration> {
  const migration = await migrationAt('verified', { memories: MEMORIES }, plan);
  return migration;
}

async function evidenceOf({ runs, services }: Migration) {
  const reference = (await runs.read(RUN)).evidence['verification-report'];
  if (!reference) throw new Error('No report');
  return { facts: reference.facts, report: await readReport(services, reference) };
}

/** Of every point of the target. */
async function mangleVectors({ services, target }: Migration): Promise<void> {
  const { points } = await services.vectors.scroll(target, { limit: MEMORIES, vector: true });
  for (const { id, vector, payload } of points) {
    if (!vector) throw new Error('No vector');
    const mangled = vector.replace(/"":\[[^\]]*\]/, '"":[1,0,0,0,0,0,0,0]') as typeof vector;
    await services.vectors.upsert(target, [{ id, vector: mangled, payload }], 'upsert');
  }
}

describe('a verification', () => {
  it('compares every vector, and says so', async () => {
    const { facts, report } = await evidenceOf(await verified());
    expect(facts).toMatchObject({ isPassed: true, vectorsCompared: MEMORIES });
    expect(report).toMatchObject({ vectors: 'all', vectorsCompared: MEMORIES });
  });

  it('compares a sample where the plan asks for one, the same one each time', async () => {
    const migration = await verified({ vectorSample: 20 });
    const first = await evidenceOf(migration);
    expect(first.report).toMatchObject({ vectors: { sample: 20, seed: RUN } });
    expect(first.facts).toMatchObject({ isPassed: true, points: MEMORIES });
    expect(Math.abs(Number(first.facts.vectorsCompared) - 20)).toBeLessThan(20);
    await migration.finish('verify');
    expect((await evidenceOf(migration)).facts).toEqual(first.facts);
  });

  it('finds in its sample what is wrong everywhere', async () => {
    const migration = await verified({ vectorSample: 20 });
    await mangleVectors(migration);
    await migration.finish('verify');
    const { facts, report } = await evidenceOf(migration);
    expect(report).toMatchObject({ faults: [`vector: ${facts.vectorsCompared}`] });
  });
});
