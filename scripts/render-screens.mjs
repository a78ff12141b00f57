/**
 * Draws the main views of the interactive terminal as PNG files in docs/images, from what the tests of the screens see:
 * `node scripts/render-screens.mjs`. It needs Chromium, as the tests of the page do.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const root = join(import.meta.dirname, "..");
const colors = { text: "#d0d0d0", background: "#16181d" };
/** The eight colors of a terminal, and their bright ones. */
const normal = [colors.background, "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", colors.text];
const palette = [...normal, "#5c6370", ...normal.slice(1, -1), "#ffffff"];

const target = join(root, "docs", "images");
const dumps = mkdtempSync(join(tmpdir(), "tau-screens-"));
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const test = "packages/cli/test/interactive/screens.test.ts";
  const env = { ...process.env, TAU_SCREENS: dumps };
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  execFileSync(process.execPath, [vitest, "run", test], { cwd: root, env, stdio: "inherit" });
  mkdirSync(target, { recursive: true });
  const page = await browser.newPage();
  for (const name of readdirSync(dumps)) {
    await page.setContent(toHtml(JSON.parse(readFileSync(join(dumps, name), "utf8"))));
    const path = join(target, name.replace(/json$/, "png"));
    const { length } = await page.locator("pre").screenshot({ path });
    console.log(`${path} ${length}`);
  }
} finally {
  await browser.close();
  rmSync(dumps, { recursive: true, force: true });
}

/** `rows` are lists of cells: text, foreground, background, and which styles they have. */
function toHtml(rows) {
  const font = "13px/17px 'DejaVu Sans Mono', monospace";
  const style = `margin: 0; padding: 10px; display: inline-block; font: ${font}; background: ${colors.background}`;
  return `<pre style="${style}">${rows.map((cells) => cells.map(toSpan).join("")).join("\n")}</pre>`;
}

function toSpan({ text, foreground, background, isInverse, isDim, isBold, isUnderlined }) {
  const plain = [toColor(foreground, colors.text), toColor(background, colors.background)];
  const [front, back] = isInverse ? plain.toReversed() : plain;
  const styles = [
    `color: ${isDim ? `color-mix(in srgb, ${front} 60%, ${back})` : front}`,
    `background: ${back}`,
    ...(isBold ? ["font-weight: bold"] : []),
    ...(isUnderlined ? ["text-decoration: underline"] : []),
  ];
  const escaped = (text || " ").replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<span style="${styles.join("; ")}">${escaped}</span>`;
}

/** A number of the palette, `#rrggbb`, or the default. */
function toColor(color, other) {
  return typeof color === "number" ? (palette[color] ?? other) : (color ?? other);
}
