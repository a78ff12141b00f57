/** Large images over RPC. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createModelWorkspace, textReply } from "./kit.ts";
import { serve } from "./rpc-kit.ts";

const header = Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489", "hex");

const createImage = (megabytes: number) => ({
  type: "image",
  data: Buffer.concat([header, Buffer.alloc(megabytes * 1024 ** 2, 7)]).toString("base64"),
  mimeType: "image/png",
});

async function createSeeingWorkspace() {
  const workspace = await createModelWorkspace([textReply("Seen."), textReply("Seen.")]);
  const path = join(workspace.agentDir, "models.json");
  const models = JSON.parse(await readFile(path, "utf8")) as {
    providers: { acme: { models: { input?: string[] }[] } };
  };
  for (const model of models.providers.acme.models) model.input = ["text", "image"];
  await writeFile(path, JSON.stringify(models));
  return workspace;
}

test("an image that no provider takes is refused at once with the limit, and the connection stays usable", async () => {
  const workspace = await createSeeingWorkspace();
  const rpc = serve(workspace);
  const images = [createImage(18)];
  for (const type of ["prompt", "steer", "follow_up"]) {
    expect(await rpc.ask(type, { message: "Look.", images })).toMatchObject({
      success: false,
      error: "Image 1 has 18.0 MB, and an image may have 15.0 MB. Make it smaller, or name its file instead.",
    });
  }
  expect(JSON.stringify(rpc.records).length).toBeLessThan(10_000);
  expect(await rpc.ask("prompt", { message: "Hi.", images: [createImage(14)] })).toMatchObject({ success: true });
  await rpc.seen(({ type }) => type === "agent_end");
  expect(JSON.stringify(workspace.server.requests[0]?.body).length).toBeGreaterThan(14 * 1024 ** 2);
  expect(await rpc.close()).toBe(0);
});

test("a line that is too long is answered, and the connection stays usable", async () => {
  const rpc = serve(await createSeeingWorkspace());
  rpc.send({ id: "1", type: "prompt", message: "Look.", images: [createImage(25)] });
  const answer = await rpc.seen(({ type }) => type === "response" || type === "error");
  expect(JSON.stringify(answer)).toContain("A line may have 32 MB.");
  expect(await rpc.ask("get_state")).toMatchObject({ success: true });
});
