import { text } from "@tau/ai/testing";
import { connectRaw } from "@tau/gateway/testing";
import { expect, onTestFinished, test } from "vitest";
import { getField, getFocused, say, type Shared, waitForText } from "../kit.ts";
import { createGate } from "../script.ts";

export function messageCases(shared: Shared): void {
  test("messages wait while a run is in progress: they are changed, taken back and said", async () => {
    const gate = createGate([text("First.")]);
    const { page } = await shared.begin(gate.turn, [text("Second.")]);
    await say(page, "Begin.");
    await page.getByRole("button", { name: "Stop now" }).waitFor();
    await say(page, "Take this back");
    const queue = page.getByRole("list", { name: "Waiting messages" });
    await queue.getByText("Take this back").waitFor();
    await page.getByRole("button", { name: "Take this message back" }).click();
    await queue.waitFor({ state: "detached" });
    await getField(page).fill("Say that");
    await getField(page).press("Control+Enter");
    await queue.getByText("after the run").waitFor();
    await page.getByRole("button", { name: "Change this message" }).click();
    // Somebody who writes elsewhere meanwhile is left alone, whatever happens in the session.
    await getField(page).click();
    await page.getByRole("button", { name: "After the run" }).click();
    await expect.poll(() => getFocused(page)).toBe("After the run");
    const field = page.getByLabel("Waiting message", { exact: true });
    await field.fill("Say this");
    await field.press("Shift+Enter");
    await field.pressSequentially("instead");
    await field.press("Enter");
    await queue.getByText("Say this instead").waitFor();
    // What is changed again has its lines still.
    await page.getByRole("button", { name: "Change this message" }).click();
    expect(await field.inputValue()).toBe("Say this\ninstead");
    await field.press("Escape");
    gate.open();
    await waitForText(page, "Second.");
    await waitForText(page, "Say this instead");
    expect(await page.getByText("Take this back").count()).toBe(0);
  });

  test("a large image is made smaller, is sent along and is shown", async () => {
    const { page, model } = await shared.begin([text("A picture.")]);
    const files = [
      { name: "noise \u202e.bmp", mimeType: "image/bmp", buffer: createBitmap(1_200, 900) },
      { name: "more.bmp", mimeType: "image/bmp", buffer: createBitmap(40, 30) },
    ];
    await page.getByLabel("Attach an image").setInputFiles(files);
    await page.getByText("noise \ufffd.bmp").waitFor();
    await page.getByRole("button", { name: "Remove more.bmp" }).click();
    const broken = { name: "broken.png", mimeType: "image/heic", buffer: Buffer.from("no image") };
    const other = { name: "other.bmp", mimeType: "image/bmp", buffer: createBitmap(50, 30) };
    await page.getByLabel("Attach an image").setInputFiles([broken, other]);
    await page.getByText("broken.png is not an image that can be read here.").waitFor();
    // One that cannot be read does not keep others away, and what was removed stays away.
    await page.getByText("other.bmp").waitFor();
    expect(await page.locator(".attached").count()).toBe(2);
    await page.getByRole("button", { name: "Remove other.bmp" }).click();
    await say(page, "What is this?");
    await waitForText(page, "A picture.");
    const shown = page.getByRole("log").getByRole("img");
    await expect.poll(() => shown.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1_200);
    const message = JSON.stringify(model.asked.at(-1)!.context.messages);
    expect(message).toContain("image/jpeg");
    expect(message.length).toBeLessThan(1_000_000);
  });

  test("messages that were given up are listed, sent again and discarded", async () => {
    const gate = createGate([text("Done.")]);
    const { page, gateway, token } = await shared.begin(gate.turn, [text("All said.")], [text("Again.")]);
    await say(page, "Begin.");
    await page.getByRole("button", { name: "Stop now" }).waitFor();
    const client = await connectRaw(gateway.url, { token });
    onTestFinished(() => client.close());
    const sessionId = page.url().split("/").at(-1)!;
    for (const message of ["One.", "Two.", "Three.", "Four."]) {
      await client.must("session.prompt", { sessionId, message, queueMode: "collect" });
    }
    gate.open();
    await waitForText(page, "All said.");
    await page.getByRole("button", { name: "Not delivered" }).click();
    const dialog = page.getByRole("dialog", { name: "Not delivered" });
    await dialog.getByRole("listitem").filter({ hasText: "One." }).getByRole("button", { name: "Discard" }).click();
    await dialog.getByText("One.").waitFor({ state: "detached" });
    await dialog.getByRole("listitem").filter({ hasText: "Two." }).getByRole("button", { name: "Send again" }).click();
    await waitForText(page, "Again.");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Not delivered" }).click();
    await dialog.getByText("There are none.").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  });
}

/** Noise, which does not compress. */
function createBitmap(width: number, height: number): Buffer {
  const rowBytes = Math.ceil((width * 3) / 4) * 4;
  const bitmap = Buffer.alloc(54 + rowBytes * height);
  bitmap.write("BM");
  bitmap.writeUInt32LE(bitmap.length, 2);
  bitmap.writeUInt32LE(54, 10);
  bitmap.writeUInt32LE(40, 14);
  bitmap.writeInt32LE(width, 18);
  bitmap.writeInt32LE(height, 22);
  bitmap.writeUInt16LE(1, 26);
  bitmap.writeUInt16LE(24, 28);
  let random = 1;
  for (let index = 54; index < bitmap.length; index++) {
    random = (random * 1_103_515_245 + 12_345) % 0x8000_0000;
    bitmap[index] = random >> 16;
  }
  return bitmap;
}
