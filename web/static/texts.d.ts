// Files that the bundler embeds as text.
declare module 'swagger-ui-dist/*' {
  const text: string;
  export default text;
}
declare module '*.css' {
  const text: string;
  export default text;
}
declare module '*.html' {
  const text: string;
  export default text;
}
// A script for browsers: the named file, bundled with everything that it imports (serverless/bundle/esbuild.config.ts).
declare module '*?script' {
  const text: string;
  export default text;
}
declare module '*/viewer.js' {
  const text: string;
  export default text;
}
