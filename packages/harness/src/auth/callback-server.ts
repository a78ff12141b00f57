/** Where a browser comes back to after a login: a server on this machine alone, for one answer. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { systemCode } from "@tau/tools/platform";
import type { BrowserLogin } from "./oauth-providers.ts";
import { type AuthorizationAnswer, answerIn } from "./pasted-code.ts";
import { isSameState } from "./pkce.ts";

export interface CallbackServer {
  /** Where the provider should send the browser. */
  readonly redirectUrl: string;
  /** The one answer with our state. What comes with another is turned away, and changes nothing. */
  readonly answer: Promise<AuthorizationAnswer>;
  close(): void;
}

/** Undefined when the port that the provider insists on is taken, or no server may be opened here. */
export async function openCallbackServer(
  { port, path, isFixed = false, host = "localhost" }: BrowserLogin["redirect"],
  state: string,
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

function createListener(path: string, state: string) {
  let isUsed = false;
  let resolve: (answer: AuthorizationAnswer) => void;
  const answer = new Promise<AuthorizationAnswer>((settle) => (resolve = settle));
  const server = createServer((request, response) => {
    const show = (status: number, text: string) => response.writeHead(status, headers).end(page(text));
    const url = URL.canParse(request.url ?? "", base) ? new URL(request.url ?? "", base) : undefined;
    if (url?.pathname !== path) return show(404, "There is nothing here.");
    if (request.method !== "GET") return show(405, "This address is for a browser that comes back from a login.");
    if (isUsed) return show(410, "This login is over. You can close this window.");
    const found = answerIn(url.searchParams);
    // Any page that is open in the browser can send it here: only the state tells ours from theirs.
    if (!isSameState(found.state ?? "", state)) return show(400, "This belongs to another login. Start again.");
    if (!found.code && !found.error) return show(400, "The answer is incomplete. Start again.");
    isUsed = true;
    // When the page is shown, or the browser has gone without it.
    response.once("close", () => resolve(found));
    const text = found.code ? "The part of the browser is done." : "The login was not completed.";
    return show(200, `${text} You can close this window and go back to your terminal.`);
  });
  return { server, answer };
}

const base = "http://localhost";

const headers = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  connection: "close",
};

/** Nothing from the request is in it. */
const page = (text: string) => `<!doctype html><html lang="en"><title>tau</title><p>${text}</p></html>\n`;

/** The port; undefined when it could not be had. */
function listen(server: Server, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    server.on("error", (error) => (systemCode(error) === undefined ? reject(error) : resolve(undefined)));
    server.listen({ port, host: "127.0.0.1" }, () => resolve((server.address() as AddressInfo).port));
  });
}
