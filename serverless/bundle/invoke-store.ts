// Replaces the SDK's store for functions that serve several invocations at once. The functions of this service handle one
// invocation at a time, and Lambda puts its trace id into the environment, where the SDK looks next.

export const InvokeStore = { getInstanceAsync: async () => undefined };
