import { call, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { say, type Shared, waitForText } from "../kit.ts";
import { vectors } from "./xss-vectors.ts";

/** A PNG of one white pixel. */
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

const excerpt = { firstLine: 11, lines: ["const a = 1;", "const width: number = label;"] };

export function codeCases(shared: Shared): void {
  test("places have their severity as a word and a color, and their code when they are unfolded", async () => {
    const severities = ["error", "warning", "info", "hint"];
    const problems = severities.map((severity, index) => ({ path: "src/a.ts", line: 12 + index, column: 7, severity }));
    const others = Array.from({ length: 20 }, (_, index) => ({
      path: "src/b.ts",
      line: index + 1,
      name: `name${index}`,
    }));
    const places = [
      { ...problems[0], message: "Not a number.", source: "ts 2322", excerpt },
      ...problems.slice(1),
      ...others,
    ];
    const { page } = await shared.begin(
      [call("places", { text: "for the model", details: { places } })],
      [text("These are all.")],
    );
    await say(page, "Look.");
    await waitForText(page, "These are all.");
    const first = page.locator(".places li").first();
    expect((await first.innerText()).replaceAll(/\s+/g, " ")).toContain("src/a.ts:12:7 error Not a number. (ts 2322)");
    expect(await page.locator(".output", { hasText: "for the model" }).count()).toBe(0);
    const colors = await page.locator(".severity").evaluateAll((all) => all.map((one) => getComputedStyle(one).color));
    expect(new Set(colors).size).toBe(4);
    expect(await page.getByText("name19").count()).toBe(0);
    await page.getByRole("button", { name: "Show all 24 places" }).click();
    await waitForText(page, "name19");
    const current = page.locator(".places .current");
    expect(await current.isVisible()).toBe(false);
    await first.locator("summary").click();
    await expect.poll(() => current.innerText()).toContain("12 > const width: number = label;");
  });

  test("a stop of a debugger shows where it is, its variables, its stack and its output", async () => {
    const place = { path: "a.py", line: 12, excerpt };
    const frames = [
      { name: "inner", place },
      { name: "outer", place: { path: "b.py", line: 4 } },
    ];
    const variables = [{ name: "x", value: "1", type: "int" }];
    const stop = { reason: "breakpoint", place, frames, variables, output: "one\ntwo\n" };
    const { page } = await shared.begin([call("step", { text: "", details: { stop } })], [text("It stopped.")]);
    await say(page, "Debug.");
    await waitForText(page, "It stopped.");
    const step = page.locator(".step");
    await step.getByText("breakpoint at a.py:12 in inner").waitFor();
    await step.getByText("x: int = 1").waitFor();
    await step.locator(".current", { hasText: "12 > const width" }).waitFor();
    expect(await step.getByText("outer b.py:4").isVisible()).toBe(false);
    await step.getByText("Stack").click();
    await step.getByText("outer b.py:4").waitFor();
    await step.getByText("Output").click();
    await step.getByText("two").waitFor();
  });

  test("the code of a cell is shown while it arrives, and its output, its value and its figure below it", async () => {
    const code = `${Array.from({ length: 40 }, (_, index) => `print(${index})`).join("\n")}\n"last line"`;
    const { page, pace } = await shared.begin(() => {
      pace.deltasLeft = 12;
      const details = { result: "forty-two" };
      return [call("cell", { language: "python", code, text: "one\ntwo", details, image: pixel })];
    }, [text("It ran.")]);
    onTestFinished(() => pace.goOn());
    await say(page, "Run it.");
    const cell = page.locator(".call", { hasText: "cell" });
    await cell.getByText("print(0)").waitFor();
    expect(await page.getByText("last line").count()).toBe(0);
    pace.goOn();
    await waitForText(page, "It ran.");
    expect(await cell.locator(".output pre").allInnerTexts()).toEqual([
      expect.stringMatching(/^print\(0\)\n[\s\S]*print\(11\)$/),
      "one\ntwo",
      "→ forty-two",
    ]);
    const figure = cell.locator("img");
    const getSize = () => figure.evaluate((image: HTMLImageElement) => [image.naturalWidth, image.naturalHeight]);
    await expect.poll(getSize).toEqual([1, 1]);
    await cell.getByRole("button", { name: "Show all 41 lines" }).click();
    await cell.getByText('"last line"').waitFor();
  });

  test("no text of a place, a stop or a cell becomes markup, or turns what is around it", async () => {
    let count = 0;
    const next = () => `\u202e${vectors[count++ % vectors.length]}\u0007`;
    const createPlace = () => ({
      path: next(),
      line: 1,
      severity: "error",
      message: next(),
      source: next(),
      name: next(),
      kind: next(),
      excerpt: { firstLine: 1, lines: [next()] },
    });
    const stop = {
      reason: next(),
      place: createPlace(),
      frames: [{ name: next(), place: createPlace() }, { name: next() }],
      variables: [{ name: next(), value: next(), type: next() }],
      output: next(),
    };
    const { page } = await shared.begin(
      [call("places", { text: "", details: { places: [createPlace(), createPlace()] } }, "p")],
      [call("step", { text: "", details: { stop } }, "s")],
      [call("cell", { text: "", code: next(), language: next(), details: { result: next() } }, "c")],
      [text("Nothing happened.")],
    );
    await say(page, "Attack.");
    await waitForText(page, "Nothing happened.");
    const calls = page.locator(".call");
    expect(await calls.locator("img, script, iframe, svg:not(.icon), a").count()).toBe(0);
    const shown = (await calls.allTextContents()).join("");
    expect(shown).toContain("U+202E");
    for (const character of ["\u202e", "\u0007"]) expect(shown).not.toContain(character);
  });
}
