// Makes an Excel workbook as spreadsheets and banks write them: shared strings, styles for dates, formulas with their values.
import { strToU8, zipSync } from 'fflate';

/** Text, a number, a date as its serial number, or a formula with the value that it had. */
export type WorkbookCell =
  | string
  | number
  | { readonly serial: number }
  | { readonly formula: string; readonly value: number }
  | null;

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships';
const DATE_STYLE = 1;

/** @param sheets rows of cells by the name of their sheet */
export function createWorkbook(
  sheets: Readonly<Record<string, readonly (readonly WorkbookCell[])[]>>,
): Uint8Array {
  const names = Object.keys(sheets);
  const strings: string[] = [];
  const files = Object.fromEntries(
    Object.values(sheets).map((rows, n) => [
      `xl/worksheets/sheet${n + 1}.xml`,
      writeSheet(rows, strings),
    ]),
  );
  const relations = names.map((_, n) =>
    relation(`rId${n + 1}`, `worksheet`, `worksheets/sheet${n + 1}.xml`),
  );
  const parts: Readonly<Record<string, string>> = {
    '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="${PACKAGE}">${relation('rId1', 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    'xl/workbook.xml': `<workbook ${MAIN} xmlns:r="${OFFICE}"><sheets>${names.map((name, n) => `<sheet name="${name}" sheetId="${n + 1}" r:id="rId${n + 1}"/>`).join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${PACKAGE}">${relations.join('')}${relation('rId91', 'styles', 'styles.xml')}${relation('rId92', 'sharedStrings', 'sharedStrings.xml')}</Relationships>`,
    'xl/styles.xml': `<styleSheet ${MAIN}><numFmts count="1"><numFmt numFmtId="164" formatCode="dd/mm/yyyy"/></numFmts><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="164" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst ${MAIN}>${strings.map((text) => `<si><t xml:space="preserve">${escapeXml(text)}</t></si>`).join('')}</sst>`,
    ...files,
  };
  return zipSync(
    Object.fromEntries(Object.entries(parts).map(([name, xml]) => [name, strToU8(HEAD + xml)])),
  );
}

function relation(id: string, type: string, target: string): string {
  return `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"/>`;
}

function writeSheet(rows: readonly (readonly WorkbookCell[])[], strings: string[]): string {
  const written = rows.map((cells, row) => {
    const filled = cells.flatMap((cell, column) =>
      cell === null
        ? []
        : writeCell(cell, `${String.fromCharCode(65 + column)}${row + 1}`, strings),
    );
    return filled.length === 0 ? '' : `<row r="${row + 1}">${filled.join('')}</row>`;
  });
  return `<worksheet ${MAIN}><sheetData>${written.join('')}</sheetData></worksheet>`;
}

function writeCell(cell: Exclude<WorkbookCell, null>, at: string, strings: string[]): string {
  if (typeof cell === 'number') return `<c r="${at}"><v>${cell}</v></c>`;
  if (typeof cell === 'string') return `<c r="${at}" t="s"><v>${strings.push(cell) - 1}</v></c>`;
  if ('serial' in cell) return `<c r="${at}" s="${DATE_STYLE}"><v>${cell.serial}</v></c>`;
  return `<c r="${at}"><f>${escapeXml(cell.formula)}</f><v>${cell.value}</v></c>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
