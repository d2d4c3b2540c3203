// Documents with figures: prose written by people, and between its markers the figures that the bench writes.

/** @throws where the document has no such markers: figures must not be measured for nothing */
export function withFigures(document: string, part: string, figures: string): string {
  const start = `<!-- bench:${part} -->`;
  const end = `<!-- /bench:${part} -->`;
  const from = document.indexOf(start);
  const to = document.indexOf(end);
  if (from < 0 || to < from) throw new Error(`The document has no ${start} ... ${end}`);
  return `${document.slice(0, from)}${start}\n${figures}\n${document.slice(to)}`;
}
