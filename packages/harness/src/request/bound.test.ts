import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentMessage } from "@tau/agent";
import type { ImageContent, TextContent } from "@tau/ai";
import { nodeFileSystem } from "@tau/tools/platform";
import { withEveryFault } from "@tau/tools/testing";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { cutText, maxImageCharacters, maxImages, getText } from "./bound-content.ts";
import { boundMessages, boundResult, createKeeper, maxResultCharacters } from "./bound.ts";

type Block = TextContent | ImageContent;
const text = (text: string): TextContent => ({ type: "text", text });
const image = (length = 4): ImageContent => ({ type: "image", data: "A".repeat(length), mimeType: "image/png" });
const lines = (count: number, length = 20) =>
  Array.from({ length: count }, (_unused, at) => `line ${at} `.padEnd(length - 1, "x")).join("\n");

const lost = async () => undefined;
const keptAt = (path: string) => async () => path;
const note = /\[([\d,]+) characters were left out here\.(?: (.+?))?\]/;
/** The content, told as one text. */
const shown = (content: readonly Block[]) => content.map((b) => (b.type === "text" ? b.text : "<image>")).join("|");
const count = (content: readonly Block[]) =>
  content.reduce((sum, b) => sum + (b.type === "text" ? b.text.length : 0), 0);

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), "tau-bound-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

describe("the room of a result", () => {
  test.each([
    [200_000, 100_000],
    [128_000, 64_000],
    [8_000, 8_000],
    [10_000_000, 400_000],
    [0, 64_000],
    [Number.NaN, 64_000],
    [Number.POSITIVE_INFINITY, 400_000],
  ])("in a window of %s tokens is %s characters", (contextWindow, characters) => {
    expect(maxResultCharacters({ contextWindow })).toBe(characters);
  });
});

describe("a result", () => {
  test("that fits is left alone, and nothing is kept", async () => {
    let kept = 0;
    const keep = async () => `${kept++}`;
    expect(await boundResult({ content: [] }, { most: 10, keep })).toBeUndefined();
    expect(await boundResult({ content: [text("12345"), image(), text("67890")] }, { most: 10, keep })).toBeUndefined();
    expect(kept).toBe(0);
  });

  test("that does not fit shows its beginning and its end by whole lines, and says where the whole is", async () => {
    const whole = lines(1_000);
    const content = (await boundResult({ content: [text(whole)] }, { most: 500, keep: keptAt("/kept/1.txt") }))!;
    expect(count(content)).toBeLessThanOrEqual(500);
    expect(count(content)).toBeGreaterThan(440);
    const all = shown(content).split("\n");
    expect(all[0]).toBe("line 0 xxxxxxxxxxxx");
    expect(all.at(-1)).toBe("line 999 xxxxxxxxxx");
    const said = all.findIndex((line) => note.test(line));
    expect(all[said]).toMatch(/^\[19,\d\d\d characters were left out here\. All of it is in \/kept\/1\.txt\]$/);
    const known = new Set(whole.split("\n"));
    for (const line of all.toSpliced(said, 1)) expect(known).toContain(line);
  });

  test.each([
    ["answers with nothing", lost],
    ["rejects", async () => Promise.reject(new Error("The disk is full."))],
    [
      "throws",
      () => {
        throw new Error("Broken.");
      },
    ],
  ])("whose keeper %s says that the rest is lost", async (_how, keep) => {
    const content = await boundResult({ content: [text(lines(1_000))] }, { most: 500, keep });
    expect(shown(content!)).toMatch(/characters were left out here\. They could not be kept and are lost\.\]/);
  });

  test("of one endless line is cut inside it", async () => {
    const content = (await boundResult({ content: [text(`${"y".repeat(9_999)}\n`)] }, { most: 1_000, keep: lost }))!;
    expect(count(content)).toBeGreaterThan(990);
    expect(shown(content)).toMatch(/^y{400,}\n\[.*\]\ny{300,}\n$/);
  });

  test("of several blocks is one text: they take the room in order, from both ends, and images stay", async () => {
    const blocks = [text("first"), image(), text(lines(50)), text(lines(50)), image(), text(lines(50)), text("last")];
    let kept = "";
    const keep = async (whole: string) => ((kept = whole), "/kept");
    const content = (await boundResult({ content: blocks }, { most: 1_000, keep }))!;
    expect(count(content)).toBeLessThanOrEqual(1_000);
    expect(shown(content)).toMatch(
      /^first\|<image>\|line 0 [^|]*\[[^|]*All of it is in \/kept\]\|<image>\|[^|]*line 49 x*\|last$/,
    );
    expect(kept).toBe(["first", lines(50), lines(50), lines(50), "last"].join("\n"));
  });

  test("keeps only as many images as can be sent, and says so for each of the others", async () => {
    const images = Array.from({ length: maxImages + 2 }, () => image());
    const content = (await boundResult(
      { content: [image(maxImageCharacters + 1), ...images] },
      { most: 999, keep: lost },
    ))!;
    expect(content.filter(({ type }) => type === "image")).toHaveLength(maxImages);
    expect(content[0]).toEqual(text("[An image was left out: it has 5.0 MB, and 5.0 MB fit.]"));
    expect(content.slice(-2)).toEqual(Array(2).fill(text("[An image was left out: a result may have 20.]")));
  });

  test("of very many images has no more sentences than fit", async () => {
    const content = (await boundResult({ content: Array(10_000).fill(image()) }, { most: 2_000, keep: keptAt("/k") }))!;
    expect(count(content)).toBeLessThanOrEqual(2_000);
    expect(content.length).toBeLessThan(100);
    expect(shown(content)).toMatch(/characters were left out here\.\]/);
  });

  test("never comes out longer than it may be, misses exactly what it says, and splits no character", async () => {
    const piece = fc.constantFrom("a", "😀", "\n", "word ", "é", "\r\n", "𝄞𝄞𝄞\n", "x".repeat(120));
    const block = fc.oneof(
      { weight: 4, arbitrary: fc.array(piece, { maxLength: 120 }).map((pieces) => text(pieces.join(""))) },
      { weight: 1, arbitrary: fc.constant<Block>(image()) },
    );
    let cut = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(block, { maxLength: 6 }), fc.integer({ min: 100, max: 900 }), async (blocks, most) => {
        const content = await boundResult({ content: blocks }, { most, keep: keptAt("/k") });
        expect(content === undefined).toBe(count(blocks) <= most);
        if (!content) return;
        cut++;
        expect(count(content)).toBeLessThanOrEqual(most);
        for (const b of content) if (b.type === "text") expect(b.text.isWellFormed()).toBe(true);
        expect(content.filter(({ type }) => type === "image")).toEqual(blocks.filter(({ type }) => type === "image"));
        const [before, missing, , after] = getText(content).replaceAll("\n", "").split(note);
        const all = getText(blocks).replaceAll("\n", "");
        expect(all.startsWith(before!) && all.endsWith(after!)).toBe(true);
        // Line breaks around the sentence are ours, so they are counted apart.
        const feeds = getText(blocks).length - (blocks.filter(({ type }) => type === "text").length - 1) - all.length;
        const left = Number(missing!.replaceAll(",", ""));
        const gone = all.length - before!.length - after!.length;
        expect(left).toBeGreaterThanOrEqual(gone);
        expect(left).toBeLessThanOrEqual(gone + feeds);
      }),
      { numRuns: 600 },
    );
    expect(cut).toBeGreaterThan(50);
  });

  test("loses no line at either end that there is room for", () => {
    const content = [text(`${lines(200)}\n`)];
    for (let most = 207; most < 307; most++) {
      const [before, after] = shown(cutText(content, most, () => "[cut]")).split("[cut]\n");
      const room = most - "[cut]".length - 2;
      expect(before!.length).toBeGreaterThan(Math.floor(room * 0.6) - 20);
      expect(after!.length).toBeGreaterThan(room - Math.floor(room * 0.6) - 20);
      expect([before!.length % 20, after!.length % 20]).toEqual([0, 0]);
    }
  });

  test("of nothing but characters of two halves keeps both of each", () => {
    const content = [text(`a${"😀".repeat(500)}b${"😀".repeat(500)}`)];
    for (let most = 100; most < 120; most++)
      for (const block of cutText(content, most, () => "[cut]"))
        expect((block as TextContent).text.isWellFormed(), `${most}`).toBe(true);
  });

  test("of a tool without types is taken as it comes", async () => {
    const strange = [null, 5, { type: "text" }, { type: "image" }, text(lines(500))] as unknown as Block[];
    const content = (await boundResult({ content: strange }, { most: 300, keep: lost }))!;
    expect(content.slice(0, 4)).toEqual(strange.slice(0, 4));
    expect((content[4] as TextContent).text).toMatch(note);
    const plain = { content: lines(500) as unknown as Block[] };
    expect(count((await boundResult(plain, { most: 300, keep: lost }))!)).toBeLessThanOrEqual(300);
    expect(await boundResult({ content: undefined as unknown as Block[] }, { most: 1, keep: lost })).toBeUndefined();
  });
});

describe("a keeper", () => {
  test("writes each text to a file of its own that only its owner may read", async () => {
    const root = directory();
    let made = 0;
    const keep = createKeeper({ directory: async () => join(root, "a", "b"), ids: () => `id${++made}` });
    const whole = `${lines(100)} 😀`;
    const content = (await boundResult({ content: [text(whole)] }, { most: 400, keep }))!;
    const path = / All of it is in (.+)\]/.exec(shown(content))![1]!;
    expect(readFileSync(path, "utf8")).toBe(whole);
    expect(await keep("another")).not.toBe(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(root, "a", "b")).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(root, "a", "b"))).toHaveLength(2);
  });

  test("names no file that is not whole, whatever call fails", async () => {
    await withEveryFault(nodeFileSystem, async (fileSystem) => {
      const root = directory();
      let made = 0;
      const keep = createKeeper({ directory: async () => join(root, "kept"), fileSystem, ids: () => `id${++made}` });
      const whole = lines(100);
      const content = (await boundResult({ content: [text(whole)] }, { most: 400, keep }))!;
      const path = / All of it is in (.+)\]/.exec(shown(content))?.[1];
      if (path === undefined) expect(shown(content)).toMatch(/are lost/);
      else expect(readFileSync(path, "utf8")).toBe(whole);
    });
  });
});

describe("messages at send time", () => {
  const result = (...content: Block[]) =>
    ({
      role: "toolResult",
      toolCallId: "1",
      toolName: "x",
      content,
      isError: true,
      details: { a: 1 },
      timestamp: 1,
    }) as AgentMessage;
  const prompt = { role: "user", content: lines(1_000), timestamp: 1 } as AgentMessage;

  test("are the same array when every result fits; prompts are not results", () => {
    const messages = [prompt, result(text("short")), { role: "toolResult" } as AgentMessage];
    expect(boundMessages(messages, 500)).toBe(messages);
  });

  test("have long results cut, once, and everything else as it was", () => {
    const long = result(text(lines(1_000)));
    const messages = [prompt, long, result(text("short"))];
    const bounded = boundMessages(messages, 500);
    expect([bounded[0], bounded[2]]).toEqual([messages[0], messages[2]]);
    const cut = bounded[1] as AgentMessage & { role: "toolResult" };
    expect({ ...cut, content: 0 }).toEqual({ ...long, content: 0 });
    expect(count(cut.content)).toBeLessThanOrEqual(500);
    expect(shown(cut.content)).toMatch(/\[19,\d\d\d characters were left out here\.\]/);
    expect(boundMessages([...messages], 500)[1]).toBe(cut);
    expect(boundMessages(messages, 600)[1]).not.toBe(cut);
    expect(messages[1]).toBe(long);
    expect(boundMessages(bounded, 500)).toBe(bounded);
  });

  test("have images replaced that no request can carry", () => {
    const [message] = boundMessages([result(image(maxImageCharacters + 1), image())], 500);
    expect(shown((message as AgentMessage & { role: "toolResult" }).content)).toMatch(
      /^\[An image was left out.*\]\|<image>$/,
    );
  });

  test("still say where the whole is when a smaller model gets less of a result that was cut before", async () => {
    const content = await boundResult({ content: [text(lines(5_000))] }, { most: 20_000, keep: keptAt("/kept/1.txt") });
    const [message] = boundMessages([result(...content!)], 1_000);
    const again = (message as AgentMessage & { role: "toolResult" }).content;
    expect(count(again)).toBeLessThanOrEqual(1_000);
    expect(shown(again).match(/All of it is in \/kept\/1\.txt\]/g)).toHaveLength(1);
  });

  test("see that a message has other content now", () => {
    const message = result(text(lines(1_000)));
    const first = boundMessages([message], 500)[0];
    Object.assign(message, { content: [text(lines(2_000))] });
    expect(boundMessages([message], 500)[0]).not.toEqual(first);
  });
});
