/** The part of `pg` that is used here. The package `@types/pg` has all of it. */
declare module "pg" {
  export interface Result {
    rows: unknown[];
  }
  export interface Client {
    query(sql: string, values?: readonly unknown[]): Promise<Result>;
    release(error?: unknown): void;
  }
  export class Pool {
    constructor(config: { connectionString?: string; host?: string; user?: string; database?: string; max?: number });
    connect(): Promise<Client>;
    query(sql: string, values?: readonly unknown[]): Promise<Result>;
    on(event: "error", listener: (error: Error) => void): void;
    end(): Promise<void>;
  }
}
