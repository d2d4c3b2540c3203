// Replaces the SDK's event streams: no operation that this service calls responds with one.

export class EventStreamSerde {
  constructor() {
    throw new Error('Event streams are not part of this bundle');
  }
}

export function eventStreamSerdeProvider(): undefined {
  return undefined;
}

export function resolveEventStreamSerdeConfig<Config>(config: Config): Config {
  return config;
}
