import type { AgentMessage } from "@tau/agent";
import type { ImageContent, TextContent } from "@tau/ai";
import { joinTextBlocks } from "@tau/ai/internal";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutText, maxImageCharacters, maxImages } from "./bound-content.ts";
import { boundMessages, boundResult, maxResultCharacters } from "./bound.ts";

type Block = TextContent | ImageContent;
const text = (text: string): TextContent => ({ type: "text", text });
const image = (length = 4): ImageContent => ({ type: "image", data: "A".repeat(length), mimeType: "image/png" });
const lines = (count: number, length = 20) =>
  Array.from({ length: count }, (_unused, index) => `line ${index} `.padEnd(length - 1, "x")).join("\n");

const failToSave = async () => undefined;
const saveAt = (path: string) => async () => path;
const note = /\[([\d,]+) characters were left out here\.(?: (.+?))?\]/;
/** The content as one text. */
const format = (content: readonly Block[]) => content.map((b) => (b.type === "text" ? b.text : "<image>")).join("|");
const countCharacters = (content: readonly Block[]) =>
  content.reduce((sum, b) => sum + (b.type === "text" ? b.text.length : 0), 0);

describe("the limit for a result", () => {
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
  test("that fits is not changed, and nothing is saved", async () => {
    let saved = 0;
    const save = async () => `${saved++}`;
    expect(await boundResult({ content: [] }, { maxCharacters: 10, save })).toBeUndefined();
    expect(
      await boundResult({ content: [text("12345"), image(), text("67890")] }, { maxCharacters: 10, save }),
    ).toBeUndefined();
    expect(saved).toBe(0);
  });

  test("that does not fit has whole lines of its beginning and end, and a note where the whole text is", async () => {
    const whole = lines(1_000);
    const content = (await boundResult(
      { content: [text(whole)] },
      { maxCharacters: 500, save: saveAt("/saved/1.txt") },
    ))!;
    expect(countCharacters(content)).toBeLessThanOrEqual(500);
    expect(countCharacters(content)).toBeGreaterThan(440);
    const all = format(content).split("\n");
    expect(all[0]).toBe("line 0 xxxxxxxxxxxx");
    expect(all.at(-1)).toBe("line 999 xxxxxxxxxx");
    const noteIndex = all.findIndex((line) => note.test(line));
    expect(all[noteIndex]).toMatch(/^\[19,\d\d\d characters were left out here\. All of it is in \/saved\/1\.txt\]$/);
    const known = new Set(whole.split("\n"));
    for (const line of all.toSpliced(noteIndex, 1)) expect(known).toContain(line);
  });

  test.each([
    ["returns nothing", failToSave],
    ["rejects", async () => Promise.reject(new Error("The disk is full."))],
    [
      "throws",
      () => {
        throw new Error("Broken.");
      },
    ],
  ])("has a note that the rest is lost if saving %s", async (_how, save) => {
    const content = await boundResult({ content: [text(lines(1_000))] }, { maxCharacters: 500, save });
    expect(format(content!)).toMatch(/characters were left out here\. They could not be saved and are lost\.\]/);
  });

  test("of one long line is cut inside the line", async () => {
    const content = (await boundResult(
      { content: [text(`${"y".repeat(9_999)}\n`)] },
      { maxCharacters: 1_000, save: failToSave },
    ))!;
    expect(countCharacters(content)).toBeGreaterThan(990);
    expect(format(content)).toMatch(/^y{400,}\n\[.*\]\ny{300,}\n$/);
  });

  test("of several blocks is cut as one text, and its images stay", async () => {
    const blocks = [text("first"), image(), text(lines(50)), text(lines(50)), image(), text(lines(50)), text("last")];
    let saved = "";
    const save = async (whole: string) => ((saved = whole), "/saved");
    const content = (await boundResult({ content: blocks }, { maxCharacters: 1_000, save }))!;
    expect(countCharacters(content)).toBeLessThanOrEqual(1_000);
    expect(format(content)).toMatch(
      /^first\|<image>\|line 0 [^|]*\[[^|]*All of it is in \/saved\]\|<image>\|[^|]*line 49 x*\|last$/,
    );
    expect(saved).toBe(["first", lines(50), lines(50), lines(50), "last"].join("\n"));
  });

  test("has as many images as can be sent, and a note for each of the others", async () => {
    const images = Array.from({ length: maxImages + 2 }, () => image());
    const content = (await boundResult(
      { content: [image(maxImageCharacters + 1), ...images] },
      { maxCharacters: 999, save: failToSave },
    ))!;
    expect(content.filter(({ type }) => type === "image")).toHaveLength(maxImages);
    expect(content[0]).toEqual(text("[An image was left out: it has 5.0 MB, and the limit is 5.0 MB.]"));
    expect(content.slice(-2)).toEqual(Array(2).fill(text("[An image was left out: a result may have 20.]")));
  });

  test("of very many images has no more notes than fit", async () => {
    const content = (await boundResult(
      { content: Array(10_000).fill(image()) },
      { maxCharacters: 2_000, save: saveAt("/k") },
    ))!;
    expect(countCharacters(content)).toBeLessThanOrEqual(2_000);
    expect(content.length).toBeLessThan(100);
    expect(format(content)).toMatch(/characters were left out here\.\]/);
  });

  test("is never too long, misses exactly what the note says, and splits no surrogate pair", async () => {
    const piece = fc.constantFrom("a", "😀", "\n", "word ", "é", "\r\n", "𝄞𝄞𝄞\n", "x".repeat(120));
    const block = fc.oneof(
      { weight: 4, arbitrary: fc.array(piece, { maxLength: 120 }).map((pieces) => text(pieces.join(""))) },
      { weight: 1, arbitrary: fc.constant<Block>(image()) },
    );
    let cut = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(block, { maxLength: 6 }),
        fc.integer({ min: 100, max: 900 }),
        async (blocks, maxCharacters) => {
          const content = await boundResult({ content: blocks }, { maxCharacters, save: saveAt("/k") });
          expect(content === undefined).toBe(countCharacters(blocks) <= maxCharacters);
          if (!content) return;
          cut++;
          expect(countCharacters(content)).toBeLessThanOrEqual(maxCharacters);
          for (const b of content) if (b.type === "text") expect(b.text.isWellFormed()).toBe(true);
          expect(content.filter(({ type }) => type === "image")).toEqual(blocks.filter(({ type }) => type === "image"));
          const [before, missing, , after] = joinTextBlocks(content).replaceAll("\n", "").split(note);
          const all = joinTextBlocks(blocks).replaceAll("\n", "");
          expect(all.startsWith(before!) && all.endsWith(after!)).toBe(true);
          // Line feeds around the note are not part of the result.
          const lineFeeds =
            joinTextBlocks(blocks).length - (blocks.filter(({ type }) => type === "text").length - 1) - all.length;
          const left = Number(missing!.replaceAll(",", ""));
          const gone = all.length - before!.length - after!.length;
          expect(left).toBeGreaterThanOrEqual(gone);
          expect(left).toBeLessThanOrEqual(gone + lineFeeds);
        },
      ),
      { numRuns: 600 },
    );
    expect(cut).toBeGreaterThan(50);
  });

  test("has all lines at both ends that fit", () => {
    const content = [text(`${lines(200)}\n`)];
    for (let maxCharacters = 207; maxCharacters < 307; maxCharacters++) {
      const [before, after] = format(cutText(content, maxCharacters, () => "[cut]")).split("[cut]\n");
      const keptLength = maxCharacters - "[cut]".length - 2;
      expect(before!.length).toBeGreaterThan(Math.floor(keptLength * 0.6) - 20);
      expect(after!.length).toBeGreaterThan(keptLength - Math.floor(keptLength * 0.6) - 20);
      expect([before!.length % 20, after!.length % 20]).toEqual([0, 0]);
    }
  });

  test("of surrogate pairs splits none of them", () => {
    const content = [text(`a${"😀".repeat(500)}b${"😀".repeat(500)}`)];
    for (let maxCharacters = 100; maxCharacters < 120; maxCharacters++)
      for (const block of cutText(content, maxCharacters, () => "[cut]"))
        expect((block as TextContent).text.isWellFormed(), `${maxCharacters}`).toBe(true);
  });

  test("with invalid blocks is accepted", async () => {
    const invalid = [null, 5, { type: "text" }, { type: "image" }, text(lines(500))] as unknown as Block[];
    const content = (await boundResult({ content: invalid }, { maxCharacters: 300, save: failToSave }))!;
    expect(content.slice(0, 4)).toEqual(invalid.slice(0, 4));
    expect((content[4] as TextContent).text).toMatch(note);
    const plain = { content: lines(500) as unknown as Block[] };
    expect(countCharacters((await boundResult(plain, { maxCharacters: 300, save: failToSave }))!)).toBeLessThanOrEqual(
      300,
    );
    expect(
      await boundResult({ content: undefined as unknown as Block[] }, { maxCharacters: 1, save: failToSave }),
    ).toBeUndefined();
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

  test("are the same array if every result fits; prompts are not limited", () => {
    const messages = [prompt, result(text("short")), { role: "toolResult" } as AgentMessage];
    expect(boundMessages(messages, 500)).toBe(messages);
  });

  test("have long results cut once, and everything else unchanged", () => {
    const long = result(text(lines(1_000)));
    const messages = [prompt, long, result(text("short"))];
    const bounded = boundMessages(messages, 500);
    expect([bounded[0], bounded[2]]).toEqual([messages[0], messages[2]]);
    const cut = bounded[1] as AgentMessage & { role: "toolResult" };
    expect({ ...cut, content: 0 }).toEqual({ ...long, content: 0 });
    expect(countCharacters(cut.content)).toBeLessThanOrEqual(500);
    expect(format(cut.content)).toMatch(/\[19,\d\d\d characters were left out here\.\]/);
    expect(boundMessages([...messages], 500)[1]).toBe(cut);
    expect(boundMessages(messages, 600)[1]).not.toBe(cut);
    expect(messages[1]).toBe(long);
    expect(boundMessages(bounded, 500)).toBe(bounded);
  });

  test("have a note for each image that no request can carry", () => {
    const [message] = boundMessages([result(image(maxImageCharacters + 1), image())], 500);
    expect(format((message as AgentMessage & { role: "toolResult" }).content)).toMatch(
      /^\[An image was left out.*\]\|<image>$/,
    );
  });

  test("keep the path in a result that was cut before, if a smaller model gets less of it", async () => {
    const content = await boundResult(
      { content: [text(lines(5_000))] },
      { maxCharacters: 20_000, save: saveAt("/saved/1.txt") },
    );
    const [message] = boundMessages([result(...content!)], 1_000);
    const again = (message as AgentMessage & { role: "toolResult" }).content;
    expect(countCharacters(again)).toBeLessThanOrEqual(1_000);
    expect(format(again).match(/All of it is in \/saved\/1\.txt\]/g)).toHaveLength(1);
  });

  test("are cut again if their content was replaced", () => {
    const message = result(text(lines(1_000)));
    const first = boundMessages([message], 500)[0];
    Object.assign(message, { content: [text(lines(2_000))] });
    expect(boundMessages([message], 500)[0]).not.toEqual(first);
  });
});
