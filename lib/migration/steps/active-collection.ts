// Makes a collection the active one: changes the setting and, on request, moves the aliases of the old collection, both forward
// and backward.
import { type Run, windowOf } from '../runs/run.ts';
import { liveCollectionOf, restoredCollectionOf } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';

type Changing = Pick<StepContext, 'services' | 'run' | 'note' | 'renew'>;

/** Can be repeated. @throws Refusal if the setting names another collection */
export async function activate(
  context: Changing,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const { services, renew } = context;
  const aliases = await findAliases(context);
  await renew();
  if (from !== to) await services.setting.change({ from, to });
  await moveAliases(context, aliases, to);
}

/** The aliases of the old collection, recorded before the first is moved: a rollback moves back no others. */
async function findAliases({ services, run, note }: Changing): Promise<readonly string[]> {
  if (!run.plan.movesAliases || run.window?.aliases) return run.window?.aliases ?? [];
  const listed = await services.vectors.listAliases();
  const aliases = listed
    .filter(({ collection_name }) => collection_name === run.plan.sourceCollection)
    .map(({ alias_name }) => alias_name);
  await note({ window: { ...windowOf(run), aliases } });
  return aliases;
}

/** Leaves an alias that another program has moved elsewhere, and recreates one that was deleted with its collection. */
async function moveAliases(
  { services: { vectors }, run, renew }: Changing,
  aliases: readonly string[],
  to: string,
): Promise<void> {
  if (aliases.length === 0) return;
  const present = new Map(
    (await vectors.listAliases()).map(({ alias_name, collection_name }) => [
      alias_name,
      collection_name,
    ]),
  );
  const own = [undefined, ...switchableCollections(run)];
  const toMove = aliases.filter((alias) => {
    const collection = present.get(alias);
    return collection !== to && own.includes(collection);
  });
  if (toMove.length === 0) return;
  await renew();
  await vectors.pointAliases(toMove, to);
}

function switchableCollections(run: Run): readonly string[] {
  return [run.plan.sourceCollection, liveCollectionOf(run), restoredCollectionOf(run)];
}
