/** Tests the screen with Markdown that arrives in pieces, and the scrollback. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Component } from "../component.ts";
import { Markdown, type MarkdownTheme } from "../components/markdown.ts";
import { VirtualTerminal } from "../testing/index.ts";
import { MainScreen } from "./main-screen.ts";
import type { Size } from "./resize.ts";

const asItIs = (text: string) => text;
const theme: MarkdownTheme = {
  heading: asItIs,
  link: asItIs,
  linkUrl: asItIs,
  code: asItIs,
  codeBlock: asItIs,
  codeBlockBorder: asItIs,
  quote: asItIs,
  quoteBorder: asItIs,
  hr: asItIs,
  listBullet: asItIs,
  bold: (text) => `\x1b[1m${text}\x1b[22m`,
  italic: asItIs,
  strikethrough: asItIs,
  underline: asItIs,
};

const firstLetter = 0x100;

const status: Component = { render: () => ["status"], isEphemeral: true, invalidate: () => {} };

class Stage {
  readonly terminal: VirtualTerminal;
  readonly markdown = new Markdown("", 1, 0, theme);
  /** Milliseconds. Each frame is long after the one before it. */
  #time = 0;
  readonly #screen = new MainScreen(false, () => this.#time);
  text = "";

  private constructor(terminal: VirtualTerminal) {
    this.terminal = terminal;
    this.markdown.isStreaming = true;
  }

  static async open(columns: number, rows: number): Promise<Stage> {
    const stage = new Stage(await VirtualTerminal.create(columns, rows));
    stage.draw();
    return stage;
  }

  async resize({ columns, rows }: Size): Promise<void> {
    await this.terminal.resize(columns, rows);
    this.#screen.noteSize({ columns, rows });
  }

  draw(isLast = false): void {
    this.#time += 1_000;
    this.terminal.write(this.#screen.draw([this.markdown, status], this.terminal, { isLast }));
  }

  append(text: string): void {
    this.text += text;
    this.markdown.setText(this.text);
    this.draw();
  }

  end(): void {
    this.markdown.isStreaming = false;
    this.draw();
  }

  /** All lines, as a component draws them that gets the text at once. */
  renderFresh(): string[] {
    const lines = new Markdown(this.text, 1, 0, theme).render(this.terminal.columns);
    return [...lines.map((line) => line.replaceAll(/\x1b\[\d+m/g, "").trimEnd()), "status"];
  }
}

async function expectEndOfDocument(stage: Stage): Promise<void> {
  const { rows } = stage.terminal;
  const shown = stage.renderFresh().slice(-rows);
  const viewport = await stage.terminal.getViewport();
  // After another width, what is drawn again begins below a rule.
  const drawn = viewport.slice(viewport.findLastIndex((line) => rule.test(line)) + 1);
  const empty = Array.from({ length: Math.max(0, drawn.length - shown.length) }, () => "");
  expect(drawn).toEqual([...shown, ...empty]);
}

/** Also what a terminal has broken off at its end. Lines of the document begin with a blank. */
const rule = /^─+$/;

/** Each line is in the scrollback once, or on the screen, or on both if the document became shorter. */
async function expectAllPrinted(stage: Stage): Promise<void> {
  const lines = stage.renderFresh();
  const scrollback = await stage.terminal.getScrollback();
  expect(scrollback).toEqual(lines.slice(0, scrollback.length));
  expect(scrollback.length).toBeGreaterThanOrEqual(lines.length - stage.terminal.rows);
  await expectEndOfDocument(stage);
}

const table = (rows: number) =>
  `| name | value |\n|---|---|\n${Array.from({ length: rows }, (_, index) => `| row ${index} | ${"x".repeat(index)} |\n`).join("")}`;
const items = (count: number) => Array.from({ length: count }, (_, index) => `- item ${index}\n`).join("");
const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`).join(" ");

describe("a block that is higher than the screen", () => {
  test.each([
    ["a table, whose columns grow with its rows", table(12)],
    ["a list that becomes loose at its end", `${items(12)}\n- last`],
    ["a paragraph in which a mark closes late", `**${words(30)}** end`],
    ["a quote", `> ${words(40)}`],
  ])("is printed once it is finished, and no earlier version of it: %s", async (_, text) => {
    const stage = await Stage.open(24, 6);
    stage.append("First.\n\n");
    for (const piece of text.match(/[\s\S]{1,7}/g) ?? []) {
      stage.append(piece);
      await expectEndOfDocument(stage);
    }
    expect((await stage.terminal.getScrollback()).length).toBeLessThanOrEqual(2);
    stage.append("\n\nLast.");
    stage.end();
    await expectAllPrinted(stage);
  });

  test("is printed line by line if it is code, since complete lines of code stay as they are", async () => {
    const stage = await Stage.open(24, 6);
    stage.append(`\`\`\`js\n${Array.from({ length: 20 }, (_, index) => `line(${index});\n`).join("")}`);
    expect(await stage.terminal.getScrollback()).toEqual(stage.renderFresh().slice(0, -6));
  });

  test("is printed as it is if no frame follows", async () => {
    const stage = await Stage.open(24, 6);
    stage.append(table(12));
    expect(await stage.terminal.getScrollback()).toEqual([]);
    stage.draw(true);
    await expectAllPrinted(stage);
  });

  test("also holds back what follows it", async () => {
    const stage = await Stage.open(24, 6);
    stage.append(items(4));
    const below = new Markdown("one\n\ntwo\n\nthree\n\nfour", 0, 0, theme);
    const screen = new MainScreen();
    const terminal = await VirtualTerminal.create(24, 6);
    terminal.write(screen.draw([stage.markdown, below], terminal));
    expect(await terminal.getScrollback()).toEqual([]);
    stage.markdown.isStreaming = false;
    terminal.write(screen.draw([stage.markdown, below], terminal));
    const lines = [...stage.markdown.render(24), ...below.render(24)].map((line) => line.trimEnd());
    expect([...(await terminal.getScrollback()), ...(await terminal.getViewport())]).toEqual(lines);
  });
});

describe("after any pieces of any Markdown", () => {
  /** Words of one letter, each of them once: no cell of a table and no terminal breaks them. */
  let next = 0;
  const word = () => String.fromCodePoint(firstLetter + next++);
  const kinds: (() => string)[] = [
    () => `${word()} **${word()} ${word()}** ${word()}`,
    () => `**${word()} ${word()}`,
    () => `${word()}** ${word()} ${word()} ${word()} ${word()}`,
    () => `- ${word()} ${word()}`,
    () => `  - ${word()}`,
    () => `1. ${word()}`,
    () => `## ${word()}`,
    () => `> ${word()} ${word()} ${word()}`,
    () => "```js",
    () => "```",
    () => `  ${word()}(${word()});`,
    () => `| ${word()} | ${word()} |\n|---|---|\n| ${word()} | ${word()} |`,
    () => `| ${word()} ${word()} | ${word()} |`,
    () => `| ${word()} | ${word()} |`,
    () => "---",
    () => "",
    () => "",
  ];
  const source = fc.array(fc.constantFrom(...kinds), { minLength: 5, maxLength: 40 }).map((lines) => {
    next = 100;
    return lines.map((create) => create()).join("\n");
  });
  const pieces = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 30 });
  const size = fc.record({ columns: fc.integer({ min: 24, max: 40 }), rows: fc.integer({ min: 3, max: 12 }) });

  test("the screen is that of a fresh terminal, and everything is printed exactly once", async () => {
    await fc.assert(
      fc.asyncProperty(source, pieces, size, async (text, lengths, { columns, rows }) => {
        const stage = await Stage.open(columns, rows);
        let rest = text;
        for (const length of lengths) {
          stage.append(rest.slice(0, length));
          rest = rest.slice(length);
          await expectEndOfDocument(stage);
        }
        stage.append(rest);
        stage.end();
        await expectAllPrinted(stage);
      }),
      { numRuns: process.env["TAU_LONG"] ? 80 : 30 },
    );
  });

  test("and resizes the screen is that of a fresh terminal, and no word is lost", async () => {
    await fc.assert(
      fc.asyncProperty(
        source,
        pieces,
        fc.array(size, { minLength: 1, maxLength: 30 }),
        async (text, lengths, sizes) => {
          const stage = await Stage.open(30, 8);
          let rest = text;
          for (const [index, length] of lengths.entries()) {
            stage.append(rest.slice(0, length));
            rest = rest.slice(length);
            const { columns, rows } = sizes[index % sizes.length] as { columns: number; rows: number };
            if (index % 3 === 0) await stage.resize({ columns, rows });
            stage.draw();
            await expectEndOfDocument(stage);
          }
          stage.append(rest);
          stage.end();
          await expectEndOfDocument(stage);
          const rows = [...(await stage.terminal.getScrollback()), ...(await stage.terminal.getViewport())];
          const all = rows.join("").replaceAll(" ", "");
          // A narrow column of a table may break a word at its end.
          for (const [start] of text.matchAll(/«\d+/g)) expect(all).toContain(start);
        },
      ),
      { numRuns: process.env["TAU_LONG"] ? 80 : 30 },
    );
  });
});

describe("after any changes of the size while text arrives", () => {
  const size = fc.record({ columns: fc.integer({ min: 24, max: 70 }), rows: fc.integer({ min: 4, max: 14 }) });
  const paragraphs = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 3, maxLength: 12 });
  const steps = fc.array(
    fc.record({ length: fc.integer({ min: 1, max: 200 }), sizes: fc.array(size, { maxLength: 4 }) }),
    { minLength: 1, maxLength: 15 },
  );

  /** Each word is there once and in order, from one rule to the next, and none is missing in all. */
  async function expectEveryWord(stage: Stage, count: number): Promise<void> {
    const rows = [...(await stage.terminal.getScrollback()), ...(await stage.terminal.getViewport())];
    // A terminal breaks what it has already shown wherever a row ends.
    const parts = rows.join("").split(/─{24,}/);
    const words = parts.map((part) => (part.match(/«\d+»/g) ?? []).map((word) => Number(word.slice(1, -1))));
    for (const numbers of words) expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => one - other));
    expect(new Set(words.flat())).toEqual(new Set(Array.from({ length: count }, (_, index) => index)));
    await expectEndOfDocument(stage);
  }

  test("every word is there once, or again below a rule", async () => {
    await fc.assert(
      fc.asyncProperty(paragraphs, steps, async (lengths, all) => {
        let next = 0;
        const text = lengths.map((length) => Array.from({ length }, () => `«${next++}»`).join(" ")).join("\n\n");
        const stage = await Stage.open(40, 8);
        let rest = text;
        for (const { length, sizes } of all) {
          stage.append(rest.slice(0, length));
          rest = rest.slice(length);
          for (const other of sizes) await stage.resize(other);
          stage.draw();
        }
        stage.append(rest);
        stage.end();
        await expectEveryWord(stage, next);
      }),
      { numRuns: process.env["TAU_LONG"] ? 60 : 25 },
    );
  });

  test("a width that returns to what it was before the next frame leaves nothing twice without a rule", async () => {
    const stage = await Stage.open(60, 8);
    const text = Array.from({ length: 200 }, (_, index) => `«${index}»`).join(" ");
    stage.append(text.slice(0, 700));
    for (const columns of [24, 60]) await stage.resize({ columns, rows: 8 });
    stage.append(text.slice(700));
    stage.end();
    await expectEveryWord(stage, 200);
  });
});
