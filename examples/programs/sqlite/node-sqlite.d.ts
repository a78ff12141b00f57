/** The part of `node:sqlite` that is used here. The types of Node 22.5 and newer have all of it. */
declare module "node:sqlite" {
  export type SQLInputValue = null | number | bigint | string | Uint8Array;
  export class DatabaseSync {
    constructor(path: string);
    exec(sql: string): void;
    prepare(sql: string): { all(...values: SQLInputValue[]): Record<string, unknown>[] };
    close(): void;
  }
}
