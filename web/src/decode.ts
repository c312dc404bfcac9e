import { Report } from "./contract";
import { checkReport, Unreadable } from "./check_report";

type FromBase64 = (text: string) => Uint8Array<ArrayBuffer>;

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as { fromBase64?: FromBase64 }).fromBase64;
  if (native) return native.call(Uint8Array, base64);
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

// Base64 of a zlib stream of JSON. Each stage fails with a sentence of its own, for a reader who has only the file.
export async function decodeReport(text: string): Promise<Report> {
  const base64 = text.trim();
  if (base64 === "" || base64.startsWith("@")) throw new Unreadable("This page holds no data: it was built, but no report was put into it.");
  if (typeof DecompressionStream === "undefined") throw new Unreadable("This browser is too old to read the report: it lacks DecompressionStream.");
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = bytesOf(base64);
  } catch {
    throw new Unreadable("The report's data is damaged: it is not base64.");
  }
  let json: string;
  try {
    json = await inflate(bytes);
  } catch {
    throw new Unreadable("The report's data is damaged: it does not unpack. The file may have been cut short.");
  }
  return parseReport(json);
}

export function parseReport(json: string): Report {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new Unreadable("The report's data is damaged: it is not JSON.");
  }
  return checkReport(value);
}
