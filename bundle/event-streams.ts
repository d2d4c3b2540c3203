// Takes the place of the SDK's event streams: no operation of DynamoDB answers with one.

export class EventStreamSerde {
  constructor() {
    throw new Error('Event streams are not part of this bundle');
  }
}

export function eventStreamSerdeProvider(): never {
  throw new Error('Event streams are not part of this bundle');
}
