// Environment variables of the migration's functions, by the parameters of serverless.yml that set them.

export const SETTINGS = {
  qdrantUrl: 'QDRANT_URL',
  qdrantKeyParameter: 'QDRANT_API_KEY_PARAMETER',
  memoryBackendUrl: 'MEMORY_BACKEND_URL',
  memoryBackendPaths: 'MEMORY_BACKEND_PATHS',
  memoryBackendKeyParameter: 'MEMORY_BACKEND_KEY_PARAMETER',
  memoryPreviewUrl: 'MEMORY_PREVIEW_URL',
  neo4jUrl: 'NEO4J_URL',
  neo4jDatabase: 'NEO4J_DATABASE',
  neo4jUser: 'NEO4J_USER',
  neo4jPasswordParameter: 'NEO4J_PASSWORD_PARAMETER',
  migrationWebhookUrl: 'MIGRATION_WEBHOOK_URL',
  migrationWebhookTokenParameter: 'MIGRATION_WEBHOOK_TOKEN_PARAMETER',
  collectionParameter: 'COLLECTION_SETTING',
  artifactsUrl: 'ARTIFACTS_URL',
} as const;
