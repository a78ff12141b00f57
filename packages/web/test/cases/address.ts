import { expect, onTestFinished, test } from "vitest";
import type { Shared } from "../kit.ts";

export function addressCases(shared: Shared): void {
  test("nothing in the address decides where the page connects to", async () => {
    const { context, url } = shared.kit;
    const addresses = [
      "?gatewayUrl=ws://127.evil.example:1/",
      "?gatewayUrl=ws://127.0.0.1:9/&token=stolen",
      "?url=wss://evil.example&deviceId=x&key=y",
      "#gatewayUrl=ws://evil.example/",
      "#/session/../../evil?token=x",
    ];
    const requested: string[] = [];
    for (const address of addresses) {
      const page = await context.newPage();
      onTestFinished(() => page.close());
      page.on("request", (request) => requested.push(request.url()));
      page.on("websocket", (socket) => requested.push(socket.url()));
      await page.goto(`${url}/${address}`);
      // The list comes over the socket.
      await page.locator(".session").first().waitFor();
    }
    const hosts = new Set(requested.map((address) => new URL(address).host));
    expect([...hosts]).toEqual([new URL(url).host]);
    const sockets = requested.filter((address) => address.startsWith("ws"));
    expect(sockets).toHaveLength(addresses.length);
    expect(new Set(sockets)).toEqual(new Set([`${url.replace(/^http/, "ws")}/`]));
  });
}
