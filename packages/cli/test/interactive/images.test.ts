import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SettingsManager } from "@tau/config/settings";
import { resetCapabilitiesCache, setCapabilities } from "@tau/tui";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ModelWorkspace, textReply, toolReply } from "../kit.ts";
import { openApp, type OpenOptions } from "./kit.ts";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const paste = (text: string) => `\x1b[200~${text}\x1b[201~`;

/** A model that sees images. */
async function prepare({ agentDir, directory, server }: ModelWorkspace): Promise<void> {
  const models = [{ id: "small", name: "Small", contextWindow: 64_000, maxTokens: 4_000, input: ["text", "image"] }];
  const acme = { baseUrl: server.url, api: "openai-completions", apiKey: "acme-key-0123456789", models };
  await writeFile(join(agentDir, "models.json"), JSON.stringify({ providers: { acme } }));
  await writeFile(join(directory, "a picture.png"), Buffer.from(png, "base64"));
  await writeFile(join(directory, "picture.png"), Buffer.from(png, "base64"));
  await writeFile(join(directory, "fake.png"), "no image");
}

const sent = (body: unknown) => JSON.stringify(body);

describe("an image", () => {
  test("of the clipboard is pasted by Ctrl-V, and sent with the message", async () => {
    let path = "";
    const app = await openApp([textReply("I see.")], {
      prepare: async (workspace) => {
        await prepare(workspace);
        const bin = join(workspace.directory, "bin");
        await mkdir(bin);
        await writeFile(join(bin, "xclip"), `#!/bin/sh\nexec cat "$HOME/picture.png"\n`);
        await chmod(join(bin, "xclip"), 0o755);
        path = `${bin}:/usr/bin:/bin`;
      },
      env: {
        get PATH() {
          return path;
        },
      },
    });
    app.press("ctrlV");
    await app.sees("[image 1]");
    app.type("look");
    app.press("enter");
    await app.sees("I see.");
    expect(sent(app.server.requests[0]!.body)).toContain(png);
  });

  test("is not sent after its marker was deleted", async () => {
    const app = await openApp([textReply("I see nothing.")], {
      prepare,
      program: { readClipboardImage: async () => ({ type: "image", data: png, mimeType: "image/png" }) },
    });
    app.press("ctrlV");
    await app.sees("[image 1]");
    app.press("ctrlU");
    app.type("look");
    app.press("enter");
    await app.sees("I see nothing.");
    expect(sent(app.server.requests[0]!.body)).not.toContain(png);
  });

  test("comes back with its message when that is taken out of the queue, and is sent with it", async () => {
    const app = await openApp([toolReply("bash", { command: "sleep 600" }), textReply("I see.")], {
      prepare,
      message: "begin",
      program: { readClipboardImage: async () => ({ type: "image", data: png, mimeType: "image/png" }) },
    });
    await app.sees("Running bash");
    app.press("ctrlV");
    await app.sees("[image 1]");
    app.type("look");
    app.press("enter");
    await app.sees("next: [image 1] look");
    app.press("escape");
    await app.sees(/─\n\[image 1\] look\n─/);
    app.press("enter");
    await app.sees("I see.");
    expect(sent(app.server.requests.at(-1)!.body)).toContain(png);
  });

  test("that is not on the clipboard is told", async () => {
    const app = await openApp([], { env: { PATH: "/nowhere" } });
    app.press("ctrlV");
    await app.sees("There is no image on the clipboard");
  });

  test.each([
    ["with escaped blanks", (path: string) => path.replaceAll(" ", "\\ ")],
    ["in quotes", (path: string) => `'${path}'`],
    ["as an address", (path: string) => `file://${path.replaceAll(" ", "%20")}`],
  ])("whose path is dragged into the terminal, %s, is attached", async (_name, format) => {
    const app = await openApp([textReply("I see.")], { prepare });
    app.terminal.sendInput(paste(format(join(app.directory, "a picture.png"))));
    await app.sees("[image 1]");
    app.press("enter");
    await app.sees("I see.");
    expect(sent(app.server.requests[0]!.body)).toContain(png);
  });

  test("that is dragged with another one is attached too", async () => {
    const app = await openApp([textReply("I see.")], { prepare });
    const paths = ["a picture.png", "picture.png"].map((name) => `'${join(app.directory, name)}'`);
    app.terminal.sendInput(paste(paths.join(" ")));
    app.press("enter");
    await app.sees("I see.");
    expect(sent(app.server.requests[0]!.body).split(png)).toHaveLength(3);
    await app.sees("[image 1] [image 2]");
  });

  test.each([
    ["an image", "picture.png", "[image 1]"],
    ["no image after all", "fake.png", "fake.png"],
  ])("that is sent before it is read goes along: %s", async (_what, name, shown) => {
    const app = await openApp([textReply("First."), textReply("Second.")], { prepare });
    app.type("look");
    app.terminal.sendInput(paste(join(app.directory, name)));
    app.press("enter");
    app.type("and now");
    app.press("enter");
    await expect.poll(() => app.server.requests.length).toBe(2);
    const [first, second] = app.server.requests.map(({ body }) => sent(body));
    expect(first).toContain(name === "picture.png" ? png : name);
    expect(first).not.toContain("and now");
    expect(second).toContain("and now");
    await app.sees(shown);
    await app.sees(/─\n\n─/);
  });

  test.each(["enter", "altEnter"] as const)("of the clipboard is sent alone by %s before it is read", async (key) => {
    const app = await openApp([textReply("I see.")], {
      prepare,
      program: { readClipboardImage: async () => ({ type: "image", data: png, mimeType: "image/png" }) },
    });
    app.press("ctrlV", key);
    await app.sees("I see.");
    expect(sent(app.server.requests[0]!.body)).toContain(png);
  });

  test("that is still read when the program ends does not take the text with it", async () => {
    const app = await openApp([], { program: { readClipboardImage: () => new Promise(() => {}) } });
    app.press("ctrlV");
    app.type("look");
    app.press("enter");
    app.type("and more");
    expect(app.drafts.at(-1)).toBe("look\n\nand more");
    app.app.stop();
    expect(await app.ended).toMatchObject({ draft: "look\n\nand more" });
  });

  test("that is none is pasted as its path", async () => {
    const app = await openApp([], { prepare });
    app.terminal.sendInput(paste(join(app.directory, "fake.png")));
    await app.sees("fake.png");
  });

  test.each(["file:///var/log/app.log is 100% full", "file:///tmp/%ff%.png"])(
    "an address that is not well encoded is pasted as text: %s",
    async (text) => {
      const app = await openApp([], { prepare });
      app.terminal.sendInput(paste(text));
      await app.sees(text);
    },
  );

  test("that is named with @ is sent as an image", async () => {
    const app = await openApp([textReply("I see.")], { prepare });
    app.type("look at @picture.png please");
    app.press("enter");
    await app.sees("I see.");
    expect(sent(app.server.requests[0]!.body)).toContain("data:image/png;base64,");
  });
});

describe("in the conversation", () => {
  /** After a tool and the user have each shown the image of one pixel. */
  async function openWithImages(images: "kitty" | "iterm2" | null, options: OpenOptions = {}) {
    setCapabilities({ images, trueColor: true, hyperlinks: false });
    onTestFinished(resetCapabilitiesCache);
    const replies = [toolReply("read", { path: "picture.png" }), textReply("I see.")];
    const app = await openApp(replies, { prepare, rows: 120, ...options });
    app.type("look at @picture.png");
    app.press("enter");
    await app.sees("I see.");
    return { app, written: () => app.terminal.writes.join("") };
  }

  test("an image of a tool and one of the user are drawn by Kitty's protocol, with their columns", async () => {
    const { app, written } = await openWithImages("kitty", { settings: { terminal: { imageWidthCells: 20 } } });
    const commands = written()
      .split("\x1b_G")
      .slice(1)
      .map((command) => command.split(";")[0] ?? "");
    expect(new Set(commands).size).toBe(2);
    for (const command of commands) expect(command).toMatch(/c=20,r=10,i=\d+/);
    expect(written()).toContain(png);
    expect(await app.screen()).not.toContain("[Image");
  });

  test("in the full screen the data of each image is sent once, and where it is follows the scrolling", async () => {
    const settings = { tuiMode: "fullscreen", terminal: { imageWidthCells: 20 } } as const;
    const { app, written } = await openWithImages("kitty", { settings, rows: 30 });
    await expect.poll(() => written().split("a=p,").length).toBeGreaterThan(2);
    app.terminal.sendInput("\x1b[5~");
    await expect.poll(() => written().split("a=d,d=i").length).toBeGreaterThan(1);
    expect(written().split(png)).toHaveLength(3);
    expect(written()).toMatch(/a=p,q=2,C=1,i=\d+,p=1,c=20,r=\d+/);
    expect(await app.screen()).not.toContain("[Image");
  });

  test("in iTerm2 the image begins in its first row, though it is written with its last", async () => {
    const { written } = await openWithImages("iterm2", { settings: { terminal: { imageWidthCells: 20 } } });
    const [before = "", image = ""] = written().split("\x1b]1337;File=");
    expect(before.endsWith("\x1b[9A")).toBe(true);
    expect(image).toContain("width=20;");
  });

  test.each([
    ["the terminal shows none", null, {}],
    ["the user wants none", "kitty", { terminal: { showImages: false } }],
  ] as const)("where %s, an image is named once", async (_why, images, settings) => {
    const { app, written } = await openWithImages(images, { settings });
    // One is in the message of the user, and one in the result of a tool.
    expect((await app.screen()).match(/image\/png/g)).toHaveLength(2);
    expect(written()).not.toContain(png);
  });

  test("showImages counts at once when it changes", async () => {
    const { app, written } = await openWithImages("kitty", { settings: { terminal: { showImages: false } } });
    expect(written()).not.toContain(png);
    app.app.applySettings(SettingsManager.inMemory({ terminal: { showImages: true } }).get());
    await expect.poll(written).toContain(png);
  });
});
