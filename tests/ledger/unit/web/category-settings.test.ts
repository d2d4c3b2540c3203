// The settings of a category: typed settings are saved once, or kept if the service refuses them.
import { describe, expect, test } from 'vitest';
import { createSettings, type SettingValues } from '../../../../web/page/category-settings.ts';

const INITIAL: SettingValues = { name: 'Food', color: '#112233', target: '' };

function openSettings(send: () => Promise<void> = async () => undefined) {
  const sentChanges: Partial<SettingValues>[] = [];
  const settings = createSettings(
    { saved: INITIAL, typed: INITIAL },
    async (changes) => {
      sentChanges.push(changes);
      // Stops a save that would otherwise repeat without end.
      if (sentChanges.length > 5) throw 'The same settings are sent again and again.';
      await send();
    },
    (cause) => String(cause),
  );
  return { sentChanges, settings };
}

describe('the settings of a category', () => {
  test('are not sent if nothing was changed', async () => {
    const { sentChanges, settings } = openSettings();
    settings.name.value = ' Food ';
    expect(await settings.save()).toBe(true);
    expect(sentChanges).toEqual([]);
  });

  test('are sent only if they were changed', async () => {
    const { sentChanges, settings } = openSettings();
    settings.target.value = '20';
    expect(await settings.save()).toBe(true);
    settings.color.value = '#445566';
    expect(await settings.save()).toBe(true);
    expect(sentChanges).toEqual([{ target: '20' }, { color: '#445566' }]);
  });

  test('are kept with the reason if they are refused, and sent at the next attempt', async () => {
    const refusals = ['The name is taken.'];
    const { sentChanges, settings } = openSettings(async () => {
      const refusal = refusals.pop();
      if (refusal) throw refusal;
    });
    settings.name.value = 'Taken';
    expect(await settings.save()).toBe(false);
    expect([settings.name.value, settings.error.value]).toEqual(['Taken', 'The name is taken.']);
    settings.name.value = 'Free';
    expect(await settings.save()).toBe(true);
    expect(settings.error.value).toBe('');
    expect(sentChanges).toEqual([{ name: 'Taken' }, { name: 'Free' }]);
  });

  test('are sent once, even if they are saved again before the response', async () => {
    const saved = Promise.withResolvers<void>();
    const { sentChanges, settings } = openSettings(() => saved.promise);
    settings.name.value = 'Meals';
    const saves = [settings.save(), settings.save()];
    saved.resolve();
    expect(await Promise.all(saves)).toEqual([true, true]);
    expect(sentChanges).toEqual([{ name: 'Meals' }]);
  });

  test('that were typed before a reload are sent, and no others', async () => {
    const sentChanges: Partial<SettingValues>[] = [];
    const typed = { ...INITIAL, target: '20' };
    const settings = createSettings(
      { saved: INITIAL, typed },
      async (changes) => void sentChanges.push(changes),
      String,
    );
    expect(settings.unsaved.value).toEqual({ saved: INITIAL, typed });
    expect(await settings.save()).toBe(true);
    expect(sentChanges).toEqual([{ target: '20' }]);
    expect(settings.unsaved.value).toBeUndefined();
  });

  test('that are typed during a save are sent next, by the same save', async () => {
    const response = Promise.withResolvers<void>();
    const { sentChanges, settings } = openSettings(() => response.promise);
    settings.name.value = 'Meals';
    const saved = settings.save();
    await Promise.resolve();
    settings.target.value = '20';
    response.resolve();
    expect(await saved).toBe(true);
    expect(sentChanges).toEqual([{ name: 'Meals' }, { target: '20' }]);
  });
});
