// Replaces the text between the markers of a document with the figures of the bench. The rest of the document stays unchanged.

/** @throws Error if the document has no such markers, because the measured figures would be lost */
export function replaceFigures(document: string, part: string, figures: string): string {
  const start = `<!-- bench:${part} -->`;
  const end = `<!-- /bench:${part} -->`;
  const from = document.indexOf(start);
  const to = document.indexOf(end);
  if (from < 0 || to < from) throw new Error(`The document has no ${start} ... ${end}`);
  return `${document.slice(0, from)}${start}\n${figures}\n${document.slice(to)}`;
}
