import type { StreamFn } from "@tau/agent";

let defaultStreamFn: StreamFn | undefined;

/** What requests are sent with where no stream function is given. Undefined: the API of their model. */
export function setDefaultStreamFn(streamFn: StreamFn | undefined): void {
  defaultStreamFn = streamFn;
}

export const getDefaultStreamFn = (): StreamFn | undefined => defaultStreamFn;
