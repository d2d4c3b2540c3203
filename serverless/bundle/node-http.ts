// Replaces node:http in bundles, without web sockets. An `import` of node:http makes Node evaluate every export, and one of them
// loads the whole of undici: a third of a function's start for something that no function uses. Bundles use
// only the exports that are named here.
const http = process.getBuiltinModule('node:http');

export const { Agent, request, STATUS_CODES } = http;
// biome-ignore lint/style/noDefaultExport: the SDK imports the default export
export default http;
