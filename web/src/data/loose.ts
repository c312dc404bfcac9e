// Parts of JSON that a stranger may have written: of the expected type, or empty.

export type Loose = { [name: string]: unknown };

export const isObject = (v: unknown): v is Loose => typeof v === "object" && v !== null && !Array.isArray(v);
export const object = (v: unknown): Loose => (isObject(v) ? v : {});
export const list = (v: unknown): unknown[] => (Array.isArray(v) ? v : []);
export const number = (v: unknown): number => (typeof v === "number" ? v : 0);
export const text = (v: unknown): string =>
  typeof v === "string"
    ? v
    : v === undefined || v === null
      ? ""
      : typeof v === "object"
        ? JSON.stringify(v)
        : String(v);
