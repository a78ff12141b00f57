/** Logins in a browser, for authorization servers that are found at run time. Loaded when one begins. */
import type { OAuthPorts } from "./oauth-post.ts";
import type { CodeRequest, ReceivedCode } from "./receive-code.ts";

export const browserLogin = {
  createAttempt: async () => (await import("./pkce.ts")).createAttempt(),
  receiveCode: async (request: CodeRequest, ports: OAuthPorts): Promise<ReceivedCode> =>
    await (await import("./receive-code.ts")).receiveCode(request, ports),
};
