// node:http without its web sockets. An `import` of it makes Node look at every export, and one of them
// loads the whole of undici: a third of a function's start for what no function uses.
// Bundles carry this in its place; it names what they take from it.
const http = process.getBuiltinModule('node:http');

export const { Agent, request, STATUS_CODES } = http;
// biome-ignore lint/style/noDefaultExport: the SDK takes the module by its default export
export default http;
