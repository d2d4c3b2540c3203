// What the test user tells a new version, to see what it makes of it.

/** Each has a fact about a person, and names: what is extracted of it depends on a language model's luck. */
export const TEST_MEMORIES = [
  'My colleague Grace Hopper lives in Amsterdam and plays the cello.',
  'I work with Ada Lovelace at Analytical Engines in London, and I love sailing.',
  'My sister Maria Sibylla studies butterflies in Suriname and paints them.',
];
