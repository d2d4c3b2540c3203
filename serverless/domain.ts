// A custom domain name for the API. It stays the same when the stage is removed and deployed again, and a content delivery
// network or a firewall can be placed in front of it.
import { type Configuration, type Resources, readText } from './configuration.ts';

/** CloudFormation resources; none for a stage without a custom domain. */
export async function customDomain(configuration: Configuration): Promise<Resources> {
  if (!(await hasCustomDomain(configuration))) return {};
  const DomainName = await readDomainName(configuration);
  const CertificateArn = await readText(configuration, 'param:certificateArn');
  const settings = { CertificateArn, EndpointType: 'REGIONAL', SecurityPolicy: 'TLS_1_2' };
  return {
    ApiDomain: {
      Type: 'AWS::ApiGatewayV2::DomainName',
      Properties: { DomainName, DomainNameConfigurations: [settings] },
    },
    ApiDomainMapping: {
      Type: 'AWS::ApiGatewayV2::ApiMapping',
      Properties: {
        ApiId: { Ref: 'HttpApi' },
        DomainName: { Ref: 'ApiDomain' },
        Stage: { Ref: 'HttpApiStage' },
      },
    },
  };
}

/**
 * Outputs of the stack: the target of the domain name's CNAME record, and HttpApiUrl with the domain name, which replaces the
 * framework's output that `info` and the commands read.
 */
export async function domainOutputs(configuration: Configuration): Promise<Resources> {
  if (!(await hasCustomDomain(configuration))) return {};
  const Value = { 'Fn::GetAtt': ['ApiDomain', 'RegionalDomainName'] };
  return {
    DomainTarget: { Description: 'Target of the CNAME record of domainName', Value },
    HttpApiUrl: { Description: 'URL of the HTTP API', Value: await apiUrl(configuration) },
  };
}

/**
 * A stage with a custom domain disables API Gateway's own address, through which requests would bypass a firewall in front of
 * the domain.
 */
export async function hasCustomDomain(configuration: Configuration): Promise<boolean> {
  return (await readDomainName(configuration)) !== '';
}

/** The public address, without a trailing slash. */
export async function apiUrl(configuration: Configuration): Promise<object | string> {
  const name = await readDomainName(configuration);
  if (name !== '') return `https://${name}`;
  return { 'Fn::Sub': `https://\${HttpApi}.execute-api.\${AWS::Region}.\${AWS::URLSuffix}` };
}

async function readDomainName(configuration: Configuration): Promise<string> {
  if ((await readText(configuration, 'sls:stage')) === 'local') return '';
  return await readText(configuration, 'param:domainName');
}
