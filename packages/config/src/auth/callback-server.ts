/** The server that a browser is redirected to after a login. It listens on this machine only, for one answer. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { systemCode } from "@tau/tools/platform";
import type { BrowserLogin } from "./oauth-provider.ts";
import { type AuthorizationAnswer, readAnswer } from "./pasted-code.ts";
import { isSameState } from "./pkce.ts";

export interface CallbackServer {
  /** The address to which the provider redirects the browser. */
  readonly redirectUrl: string;
  /** The first answer with the right state. Requests with another state are refused. */
  readonly answer: Promise<AuthorizationAnswer>;
  close(): void;
}

/** Undefined if the port is fixed and in use, or no server can be opened. Without `state`, the path is secret. */
export async function openCallbackServer(
  { port, path, isFixed = false, host = "localhost" }: BrowserLogin["redirect"],
  state: string | undefined,
): Promise<CallbackServer | undefined> {
  for (const wanted of isFixed || port === 0 ? [port] : [port, 0]) {
    const listener = createListener(path, state);
    const actual = await listen(listener.server, wanted);
    if (actual === undefined) continue;
    const close = () => {
      listener.server.close();
      listener.server.closeAllConnections();
    };
    return { redirectUrl: `http://${host}:${actual}${path}`, answer: listener.answer, close };
  }
  return undefined;
}

function createListener(path: string, state: string | undefined) {
  let isUsed = false;
  let resolve: (answer: AuthorizationAnswer) => void;
  const answered = new Promise<AuthorizationAnswer>((settle) => (resolve = settle));
  const server = createServer((request, response) => {
    const show = (status: number, text: string) => response.writeHead(status, headers).end(page(text));
    const url = URL.canParse(request.url ?? "", base) ? new URL(request.url ?? "", base) : undefined;
    if (url?.pathname !== path) return show(404, "There is nothing here.");
    if (request.method !== "GET") return show(405, "This address is for the redirect after a login.");
    if (isUsed) return show(410, "This login is over. You can close this window.");
    const answer = readAnswer(url.searchParams);
    // Any page in the browser can send a request here. Only the right state proves that it belongs to this login.
    if (state !== undefined && !isSameState(answer.state ?? "", state))
      return show(400, "This belongs to another login. Start again.");
    if (!answer.code && !answer.error) return show(400, "The answer is incomplete. Start again.");
    isUsed = true;
    // When the page was sent, or the browser closed the connection.
    response.once("close", () => resolve(answer));
    const text = answer.code ? "The browser is done." : "The login was not completed.";
    return show(200, `${text} You can close this window and go back to your terminal.`);
  });
  return { server, answer: answered };
}

const base = "http://localhost";

const headers = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  connection: "close",
};

/** It contains nothing of the request. */
const page = (text: string) => `<!doctype html><html lang="en"><title>tau</title><p>${text}</p></html>\n`;

/** The port. Undefined if it could not be opened. */
function listen(server: Server, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    server.on("error", (error) => (systemCode(error) === undefined ? reject(error) : resolve(undefined)));
    server.listen({ port, host: "127.0.0.1" }, () => resolve((server.address() as AddressInfo).port));
  });
}
