/**
 * Draws the main views of the interactive terminal as PNG files in docs/images, from what the tests of the screens see.
 *
 *   node scripts/render-screens.mjs [FONT.ttf]
 *
 * The font has to be monospaced; bold text uses `FONT-Bold.ttf` beside it. Default: DejaVu Sans Mono where Debian has it.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFont } from "./screens/font.mjs";
import { encodePng } from "./screens/png.mjs";

const root = join(import.meta.dirname, "..");
const fontPath = process.argv[2] ?? "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf";
const fontSize = 13;
const cellHeight = 17;
const margin = 10;
/** So few that a picture has at most 256 colors. */
const shades = 5;

const colors = { text: 0xd0d0d0, background: 0x16181d };
/** The eight colors of a terminal, and their bright ones. */
const normal = [0x16181d, 0xe06c75, 0x98c379, 0xe5c07b, 0x61afef, 0xc678dd, 0x56b6c2, 0xd0d0d0];
const palette = [...normal, 0x5c6370, ...normal.slice(1, -1), 0xffffff];

const font = openFont(fontPath);
const boldFont = openFont(fontPath.replace(/\.ttf$/, "-Bold.ttf"));
const cellWidth = Math.round(font.getAdvance(fontSize));
const glyphs = new Map();

const target = join(root, "docs", "images");
const dumps = mkdtempSync(join(tmpdir(), "tau-screens-"));
try {
  const test = "packages/cli/test/interactive/screens.test.ts";
  const env = { ...process.env, TAU_SCREENS: dumps };
  execFileSync(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "run", test], {
    cwd: root,
    env,
    stdio: "inherit",
  });
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(dumps)) {
    const bytes = drawScreen(JSON.parse(readFileSync(join(dumps, name), "utf8")));
    const file = join(target, name.replace(/json$/, "png"));
    writeFileSync(file, bytes);
    console.log(`${file} ${bytes.length}`);
  }
} finally {
  rmSync(dumps, { recursive: true, force: true });
}

/** `rows` are lists of cells: text, foreground, background, and which styles they have. */
function drawScreen(rows) {
  const width = rows[0].length * cellWidth + 2 * margin;
  const height = rows.length * cellHeight + 2 * margin;
  const pixels = Array.from({ length: width * height }, () => colors.background);
  for (const [row, cells] of rows.entries()) {
    for (const [column, cell] of cells.entries()) {
      drawCell(pixels, width, { x: margin + column * cellWidth, y: margin + row * cellHeight, cell });
    }
  }
  return encodePng(pixels, width);
}

function drawCell(pixels, width, { x, y, cell }) {
  const [plainText, plainBackground] = [
    toColor(cell.foreground, colors.text),
    toColor(cell.background, colors.background),
  ];
  const [front, back] = cell.isInverse ? [plainBackground, plainText] : [plainText, plainBackground];
  const text = cell.isDim ? mix(back, front, 0.6) : front;
  const coverage = getGlyph(cell.text, cell.isBold);
  for (let row = 0; row < cellHeight; row++) {
    for (let column = 0; column < cellWidth; column++) {
      const isLine = cell.isUnderlined && row === cellHeight - 3;
      const share = isLine ? 1 : (coverage?.[row * cellWidth + column] ?? 0);
      const shade = Math.round(share * (shades - 1)) / (shades - 1);
      if (shade > 0 || back !== colors.background) pixels[(y + row) * width + x + column] = mix(back, text, shade);
    }
  }
}

function getGlyph(text, isBold) {
  if (text.trim() === "") return undefined;
  const key = `${isBold ? "bold" : "normal"} ${text}`;
  if (!glyphs.has(key)) {
    const size = { size: fontSize, width: cellWidth, height: cellHeight };
    glyphs.set(key, (isBold ? boldFont : font).draw(text, size) ?? drawBox());
  }
  return glyphs.get(key);
}

/** For a character that the font does not have. */
function drawBox() {
  const coverage = new Float32Array(cellWidth * cellHeight);
  for (let row = 3; row < cellHeight - 3; row++) {
    for (let column = 1; column < cellWidth - 1; column++) {
      const isEdge = row === 3 || row === cellHeight - 4 || column === 1 || column === cellWidth - 2;
      coverage[row * cellWidth + column] = isEdge ? 0.5 : 0;
    }
  }
  return coverage;
}

/** A number of the palette, `#rrggbb`, or the default. */
function toColor(color, other) {
  if (color === undefined) return other;
  return typeof color === "number" ? (palette[color] ?? other) : Number.parseInt(color.slice(1), 16);
}

function mix(from, to, share) {
  const channel = (shift) => {
    const [one, other] = [(from >> shift) & 0xff, (to >> shift) & 0xff];
    return Math.round(one + (other - one) * share) << shift;
  };
  return channel(16) | channel(8) | channel(0);
}
