// The types of the generated client without its functions, for the page: it sends its requests itself.
const TYPE = /^export type .*?;\n(?=export |const |\/\*\*)/gms;

/** @param client as oazapfts writes it */
export function extractTypes(client: string): string {
  return `// Written by \`npm run describe\`.\n${(client.match(TYPE) ?? []).join('')}`;
}
