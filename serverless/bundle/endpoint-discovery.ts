// Replaces the SDK's endpoint discovery, which DynamoDB uses only with a setting that this service never sets.

export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: () => undefined,
  configFileSelector: () => undefined,
  default: false,
};

export function resolveEndpointDiscoveryConfig<Config>(config: Config): Config {
  return config;
}
