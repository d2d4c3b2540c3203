// Cuts the points out of an answer without parsing them.
import type { Schemas } from '@qdrant/js-client-rest';
import { JsonScanError, type JsonScanner, scanJson } from '../../json/json-scanner.ts';
import { asJsonText } from '../../json/json-text.ts';
import type { PointId, ScrolledPoint, ScrollPage } from '../../ports/vector-store.ts';

interface Envelope {
  readonly result: unknown;
}

type PointRecord = Schemas['Record'];

export function readScrollPage(answer: string): ScrollPage {
  const scanner = scanJson(answer);
  let points: ScrolledPoint[] | undefined;
  let nextOffset: PointId | null = null;
  for (const part of scanner.members<Envelope>()) {
    if (part !== 'result') continue;
    for (const member of scanner.members<Schemas['ScrollResult']>()) {
      if (member === 'points') points = readRecords(scanner);
      if (member === 'next_page_offset') nextOffset = idOrNull(scanner.text());
    }
  }
  if (points === undefined) throw new JsonScanError('The answer to a scroll has no points');
  return { points, nextOffset };
}

export function readPoints(answer: string): ScrolledPoint[] {
  const scanner = scanJson(answer);
  for (const part of scanner.members<Envelope>()) {
    if (part === 'result') return readRecords(scanner);
  }
  throw new JsonScanError('The answer has no points');
}

function readRecords(scanner: JsonScanner): ScrolledPoint[] {
  const records: ScrolledPoint[] = [];
  for (const _ of scanner.elements()) records.push(readRecord(scanner));
  return records;
}

function readRecord(scanner: JsonScanner): ScrolledPoint {
  const texts: Partial<Record<keyof PointRecord, string>> = {};
  for (const member of scanner.members<PointRecord>()) texts[member] = scanner.text();
  const { id, vector, payload = 'null' } = texts;
  if (id === undefined) throw new JsonScanError('A point has no id');
  return {
    id: asJsonText(id),
    vector: vector === undefined || vector === 'null' ? undefined : asJsonText(vector),
    payload: asJsonText(payload),
  };
}

function idOrNull(text: string): PointId | null {
  return text === 'null' ? null : asJsonText(text);
}
