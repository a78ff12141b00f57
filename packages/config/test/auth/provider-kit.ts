/** Servers and data for the logins of single providers. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { createFakeClock } from "@tau/ai/testing";
import { onTestFinished } from "vitest";
import type { OAuthProvider } from "../../src/auth/oauth-provider.ts";
import { oauthProviders } from "../../src/auth/oauth-providers.ts";

export interface Seen {
  path: string;
  authorization: string | undefined;
  text: string;
  headers: IncomingMessage["headers"];
}

export type Answers = Record<string, (seen: Seen) => { status?: number; body: unknown }>;

/** Answers by path, and keeps what it was asked. */
export async function serve(answers: Answers) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString("utf8");
    const { authorization } = request.headers;
    const one = { path: request.url ?? "", authorization, text, headers: request.headers };
    seen.push(one);
    const { status = 200, body } = answers[one.path]?.(one) ?? { status: 404, body: {} };
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { seen, answers, host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** The data of a provider, with all its hosts replaced by one on this machine. */
export function localProvider(id: string, host: string): OAuthProvider {
  const provider = oauthProviders.find((each) => each.id === id)!;
  const local = JSON.stringify(provider).replace(
    /https:\/\/(?:api\.)?(?:\{domain\}|[a-z.]+)\//g,
    provider.domain ? "http://{domain}/" : `http://${host}/`,
  );
  const parsed = JSON.parse(local) as OAuthProvider;
  if (parsed.domain) parsed.domain.default = host.replace("127.0.0.1", "localhost");
  return parsed;
}

/** Lets time pass until the work is done. */
export async function passTime<Result>(
  work: Promise<Result>,
  clock: ReturnType<typeof createFakeClock>,
  began: () => boolean,
) {
  let isOver = false;
  void work.finally(() => (isOver = true));
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    if (clock.waiting === 1 && began()) await clock.advance(1_000);
  }
  return await work;
}
