/** A server that has the keys, for pages that run the agent themselves. Run it with `npx tsx server.ts`. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createProxyHandler } from "@tau/agent";

/** `authenticate` checks the token that a page sends. `allowedOrigins` are the addresses of the pages. */
export async function startProxy(options: Parameters<typeof createProxyHandler>[0], port = 0) {
  const server = createServer(createProxyHandler(options));
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

if (process.argv[1] === import.meta.filename) {
  const { PROXY_TOKEN, PAGE_ORIGIN = "http://localhost:5173", PORT = "8787" } = process.env;
  const { url } = await startProxy({ authenticate: PROXY_TOKEN!, allowedOrigins: [PAGE_ORIGIN] }, Number(PORT));
  process.stdout.write(`${url}\n`);
}
