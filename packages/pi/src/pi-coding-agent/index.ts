/** pi's module `pi-coding-agent`. */
export * from "./not-built.ts";
