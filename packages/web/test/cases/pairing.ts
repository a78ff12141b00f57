import { expect, onTestFinished, test } from "vitest";
import { openContext, type Shared } from "../kit.ts";

/** In the page: what is stored of this device. */
async function readStoredDevice() {
  const database = await new Promise<IDBDatabase>((resolve) => {
    const request = indexedDB.open("tau");
    request.addEventListener("success", () => resolve(request.result));
  });
  const { deviceId, key } = await new Promise<{ deviceId: string; key: CryptoKey }>((resolve) => {
    const request = database.transaction("values").objectStore("values").get("device");
    request.addEventListener("success", () => resolve(request.result as never));
  });
  const exported = await crypto.subtle.exportKey("raw", key).then(
    () => "exported",
    (error: unknown) => (error as Error).name,
  );
  return { deviceId, exported, extractable: key.extractable, local: localStorage.length, address: location.href };
}

export function pairingCases(shared: Shared): void {
  test("a device is paired with a code that is typed; its key cannot be read, and it can be revoked", async () => {
    const { browser, gateway, url } = shared.kit;
    const { page, pair, problems, close } = await openContext(browser, gateway);
    onTestFinished(close);
    await page.goto(url);
    const command = await page.locator(".pairing-command").textContent();
    expect(command).toMatch(/^tau gateway pair [0-9A-Z]{4}-[0-9A-Z]{4}$/);
    await pair(["read"]);
    const stored = await page.evaluate(readStoredDevice);
    const { deviceId, ...others } = stored;
    expect(others).toEqual({ exported: "InvalidAccessError", extractable: false, local: 0, address: `${url}/` });
    await page.reload();
    await page.getByRole("navigation", { name: "Sessions" }).waitFor();
    await gateway.parts.devices.revoke(deviceId);
    for (const client of gateway.parts.connections.list(deviceId)) client.close(1008, "revoked");
    await page.getByRole("button", { name: "Pair again" }).click();
    await page.getByTestId("pairing-code").waitFor();
    expect(problems).toEqual([]);
  });

  test("a lost request does not end the pairing, and a browser that stores nothing can be used until it is closed", async () => {
    const { browser, gateway, url } = shared.kit;
    const { page, pair, close } = await openContext(browser, gateway);
    onTestFinished(close);
    await page.addInitScript(() => {
      indexedDB.open = () => {
        throw new Error("Nothing is stored here.");
      };
    });
    let requests = 0;
    await page.route("**/pair/claim", (route) => (requests++ === 0 ? route.abort() : route.continue()));
    await page.clock.install();
    await page.goto(url);
    await page.getByTestId("pairing-code").waitFor();
    await page.clock.runFor(2_000);
    await expect.poll(() => requests).toBe(1);
    const paired = pair(["read"]);
    await expect
      .poll(async () => {
        await page.clock.runFor(2_000);
        return await page.getByRole("alert").allTextContents();
      })
      .toEqual(["Nothing is stored here."]);
    await paired;
  });
}
