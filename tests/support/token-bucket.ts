// How API Gateway limits a route: a bucket that holds as many tokens as the burst, full at first, gains the rate in each second,
// and gives one to each request. A request that finds none is a 429.

export interface Throttle {
  readonly ThrottlingRateLimit: number;
  readonly ThrottlingBurstLimit: number;
}

/** @returns whether a request is let through. @param now in seconds, never less than before */
export function createTokenBucket({ ThrottlingRateLimit, ThrottlingBurstLimit }: Throttle) {
  let tokens = ThrottlingBurstLimit;
  let last = 0;
  return (now: number): boolean => {
    tokens = Math.min(ThrottlingBurstLimit, tokens + (now - last) * ThrottlingRateLimit);
    last = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
