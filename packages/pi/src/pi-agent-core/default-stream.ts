import type { StreamFn } from "@tau/agent";

let defaultStreamFn: StreamFn | undefined;

/** Sets the function that sends requests where no other is given. Undefined: the API of their model sends them. */
export function setDefaultStreamFn(streamFn: StreamFn | undefined): void {
  defaultStreamFn = streamFn;
}

export const getDefaultStreamFn = (): StreamFn | undefined => defaultStreamFn;
