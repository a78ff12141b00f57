/** pi's module `pi-ai/compat`: the same names, which `pi-ai` has here too. */
export * from "./index.ts";
