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
  const exported = await crypto.subtle.exportKey("pkcs8", key).then(
    () => "exported",
    (error: unknown) => (error as Error).name,
  );
  const algorithm = key.algorithm.name;
  return {
    deviceId,
    algorithm,
    exported,
    extractable: key.extractable,
    local: localStorage.length,
    address: location.href,
  };
}

/** In the page: what an earlier version stored. */
async function storeEarlierDevice({ deviceId, token }: { deviceId: string; token: string }) {
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(token), hmac, false, ["sign"]);
  const database = await new Promise<IDBDatabase>((resolve) => {
    const request = indexedDB.open("tau");
    request.addEventListener("success", () => resolve(request.result));
  });
  const transaction = database.transaction("values", "readwrite");
  transaction.objectStore("values").put({ deviceId, key }, "device");
  await new Promise((resolve) => transaction.addEventListener("complete", resolve));
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
    const algorithm = "Ed25519";
    expect(others).toEqual({
      algorithm,
      exported: "InvalidAccessError",
      extractable: false,
      local: 0,
      address: `${url}/`,
    });
    await page.reload();
    await page.getByRole("navigation", { name: "Sessions" }).waitFor();
    await gateway.parts.devices.revoke(deviceId);
    for (const client of gateway.parts.connections.list(deviceId)) client.close(1008, "revoked");
    await page.getByRole("button", { name: "Pair again" }).click();
    await page.getByTestId("pairing-code").waitFor();
    expect(problems).toEqual([]);
  });

  test("a key that an earlier version of the page stored still connects, and is stored as it is now", async () => {
    const { browser, gateway, url } = shared.kit;
    const { page, problems, close } = await openContext(browser, gateway);
    onTestFinished(close);
    const { id, token } = await gateway.parts.devices.add({ name: "Old page", scopes: ["read"] });
    await page.goto(url);
    await page.getByTestId("pairing-code").waitFor();
    await page.evaluate(storeEarlierDevice, { deviceId: id, token });
    await page.reload();
    await page.getByRole("navigation", { name: "Sessions" }).waitFor();
    expect(await page.evaluate(readStoredDevice)).toMatchObject({ deviceId: id, algorithm: "Ed25519" });
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
