// Contenders run in turns; what is told of each is its median.
import { expect, it } from 'vitest';
import { race } from '../../../bench/race.ts';

function contender(name: string, times: readonly number[], log: string[] = []) {
  let run = 0;
  return async () => {
    log.push(name);
    run += 1;
    return times[run - 1] ?? Number.NaN;
  };
}

it('the first round warms up and is not counted', async () => {
  const contenders = [contender('one', [900, 3, 1, 2]), contender('other', [800, 10, 30, 20])];
  expect(await race(contenders, 3)).toEqual([2, 20]);
});

it('each round starts with another contender', async () => {
  const log: string[] = [];
  const times = [1, 1, 1, 1];
  await race([contender('a', times, log), contender('b', times, log)], 3);
  expect(log.join('')).toBe('ab' + 'ab' + 'ba' + 'ab');
});
