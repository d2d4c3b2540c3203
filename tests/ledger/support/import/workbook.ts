// Creates an Excel workbook as spreadsheet programs and banks write it: with shared strings, date styles, and formulas with
// their values.
import { strToU8, zipSync } from 'fflate';

/** Text, a number, a date as its serial number, or a formula with its computed value. */
export type WorkbookCell =
  | string
  | number
  | { readonly serial: number }
  | { readonly formula: string; readonly value: number }
  | null;

const XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN_NAMESPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const OFFICE_RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE_RELATIONSHIPS = 'http://schemas.openxmlformats.org/package/2006/relationships';
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
    '_rels/.rels': `<Relationships xmlns="${PACKAGE_RELATIONSHIPS}">${relation('rId1', 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    'xl/workbook.xml': `<workbook ${MAIN_NAMESPACE} xmlns:r="${OFFICE_RELATIONSHIPS}"><sheets>${names.map((name, n) => `<sheet name="${name}" sheetId="${n + 1}" r:id="rId${n + 1}"/>`).join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${PACKAGE_RELATIONSHIPS}">${relations.join('')}${relation('rId91', 'styles', 'styles.xml')}${relation('rId92', 'sharedStrings', 'sharedStrings.xml')}</Relationships>`,
    'xl/styles.xml': `<styleSheet ${MAIN_NAMESPACE}><numFmts count="1"><numFmt numFmtId="164" formatCode="dd/mm/yyyy"/></numFmts><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="164" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst ${MAIN_NAMESPACE}>${strings.map((text) => `<si><t xml:space="preserve">${escapeXml(text)}</t></si>`).join('')}</sst>`,
    ...files,
  };
  return zipSync(
    Object.fromEntries(
      Object.entries(parts).map(([name, xml]) => [name, strToU8(XML_DECLARATION + xml)]),
    ),
  );
}

function relation(id: string, type: string, target: string): string {
  return `<Relationship Id="${id}" Type="${OFFICE_RELATIONSHIPS}/${type}" Target="${target}"/>`;
}

function writeSheet(rows: readonly (readonly WorkbookCell[])[], strings: string[]): string {
  const rowElements = rows.map((cells, row) => {
    const cellElements = cells.flatMap((cell, column) =>
      cell === null
        ? []
        : writeCell(cell, `${String.fromCharCode(65 + column)}${row + 1}`, strings),
    );
    return cellElements.length === 0 ? '' : `<row r="${row + 1}">${cellElements.join('')}</row>`;
  });
  return `<worksheet ${MAIN_NAMESPACE}><sheetData>${rowElements.join('')}</sheetData></worksheet>`;
}

function writeCell(
  cell: Exclude<WorkbookCell, null>,
  reference: string,
  strings: string[],
): string {
  if (typeof cell === 'number') return `<c r="${reference}"><v>${cell}</v></c>`;
  if (typeof cell === 'string')
    return `<c r="${reference}" t="s"><v>${strings.push(cell) - 1}</v></c>`;
  if ('serial' in cell) return `<c r="${reference}" s="${DATE_STYLE}"><v>${cell.serial}</v></c>`;
  return `<c r="${reference}"><f>${escapeXml(cell.formula)}</f><v>${cell.value}</v></c>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
