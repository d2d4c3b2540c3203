// Parameters of a stage whose operator has named everything that there can be; nothing of it exists.
export const MIGRATING = {
  qdrantUrl: 'https://qdrant.example:6333',
  qdrantKeyParameter: '/memory/qdrant-key',
  memoryBackendUrl: 'https://memory.example',
  memoryBackendKeyParameter: '/memory/backend-key',
  memoryBackendPaths: 'search=/search',
  memoryPreviewUrl: 'https://preview.example',
  neo4jUrl: 'neo4j+s://graph.example',
  neo4jDatabase: 'memories',
  neo4jUser: 'reader',
  neo4jPasswordParameter: '/aws/reference/secretsmanager/memory/neo4j',
  migrationWebhookUrl: 'https://hooks.example/migration',
  migrationWebhookTokenParameter: '/memory/webhook-token',
  collectionParameter: '/memory/collection',
  artifactsUrl: 's3://memory-backups.example/of/memories',
  domainName: 'ledger.example',
  certificateArn:
    'arn:aws:acm:eu-west-1:111122223333:certificate/0f3a9c21-0000-4000-8000-000000000000',
  canaryKeyParameter: '/finance-ledger/canary-key',
  alarmTopicArn: 'arn:aws:sns:eu-west-1:111122223333:alarms',
  monthlyBudgetUsd: '50',
  reservedConcurrency: '2',
};
