/** Logging in from an editor: the ways that there are, and the browser login of a provider. */
import { getErrorMessage } from "@tau/ai/internal";
import type { LoginEvent } from "@tau/config/auth";
import type { Io } from "../commands/command.ts";
import type { Connection } from "../json-rpc/connection.ts";
import { JsonRpcError } from "@tau/protocol/json-rpc";
import type { AuthMethod, ClientCapabilities, CreateElicitationRequest, RequestId } from "./schema.generated.ts";

const loginPrefix = "login:";

/** Logins of providers, which we carry out, and one in a terminal for everything else, where the editor can open it. */
export async function listAuthMethods(io: Io, client: ClientCapabilities): Promise<AuthMethod[]> {
  const { openAccess } = await import("../commands/access.ts");
  const access = await openAccess(io);
  const logins = access.auth.getOAuthProviders().map(({ id, name }): AuthMethod => ({
    id: `${loginPrefix}${id}`,
    name: `Log in to ${name}`,
    description: "In a browser on this machine",
  }));
  await access.close();
  const terminal: AuthMethod = {
    type: "terminal",
    id: "terminal",
    name: "Log in in a terminal",
    description: "Choose a provider, and log in or type a key",
    args: ["login"],
  };
  return client.auth?.terminal ? [terminal, ...logins] : logins;
}

interface Login {
  io: Io;
  connection: Connection;
  client: ClientCapabilities;
  /** The request that waits for the login. */
  requestId: RequestId;
  signal: AbortSignal;
}

/** Resolves when the person has logged in. Throws `auth_required` if they have not. */
export async function authenticate(methodId: string, login: Login): Promise<void> {
  const { openAccess } = await import("../commands/access.ts");
  const access = await openAccess(login.io);
  try {
    const provider = methodId.startsWith(loginPrefix) ? methodId.slice(loginPrefix.length) : "";
    if (!access.auth.getOAuthProviders().some(({ id }) => id === provider)) {
      throw new JsonRpcError("invalid_params", `There is no way to log in that is called ${JSON.stringify(methodId)}.`);
    }
    const notify = (event: LoginEvent) => void showStep(provider, event, login);
    const outcome = await access.auth.login(provider, { notify }, { signal: login.signal });
    if (outcome.kind === "failed") throw new JsonRpcError("auth_required", outcome.failure.message);
  } finally {
    await access.close();
  }
}

/** The editor opens the address if it can, else we do. Either way the log of the editor has it. */
async function showStep(provider: string, event: LoginEvent, login: Login): Promise<void> {
  const { io, connection, client, requestId, signal } = login;
  const step = describeStep(provider, event);
  io.err(`tau: ${step.message}\n`);
  if (step.url === undefined) return;
  if (client.elicitation?.url) {
    const { url, message } = step;
    const params: CreateElicitationRequest = {
      mode: "url",
      requestId,
      elicitationId: `login-${provider}`,
      url,
      message,
    };
    // The login is over when the provider says so, whatever the person answers here.
    return await connection.request("elicitation/create", params, signal).then(
      () => undefined,
      (error: unknown) => io.err(`tau: the editor did not open the address: ${getErrorMessage(error)}\n`),
    );
  }
  const { openAddress } = await import("../terminal/open-address.ts");
  openAddress(step.url, io.env);
}

function describeStep(provider: string, event: LoginEvent): { message: string; url?: string } {
  switch (event.type) {
    case "message":
      return { message: event.text };
    case "auth_url":
      return { message: `To log in to ${provider}, open ${event.url}`, url: event.url };
    default: {
      const url = event.completeUrl ?? event.verificationUrl;
      return { message: `To log in to ${provider}, open ${url} and type the code ${event.userCode}`, url };
    }
  }
}
