import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { WatchedConfig } from "./watched-config.ts";

function createConfig(text: string, name = "config"): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "tau-config-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const putAside = () => {
  throw new Error("Nothing is to be set aside.");
};
const isPlanted = () => false;
const harmless = "[user]\n\tname = abcdefgh\n";
const harmful = "[core]\n\tpager = ./abcd\n".padEnd(harmless.length - 1).concat("\n");

test("a change is undone that comes right after another one, in the same file and with the same length", () => {
  expect(harmful).toHaveLength(harmless.length);
  const path = createConfig(harmless);
  // The clock of files has steps of some milliseconds, so several changes have the same time.
  for (let round = 0; round < 50; round++) {
    writeFileSync(path, harmless);
    const config = new WatchedConfig(path, isPlanted);
    writeFileSync(path, harmful);
    expect(config.check(putAside)).toContain("core.pager");
    expect(readFileSync(path, "utf8")).not.toContain("pager");
  }
});

test("a file that stays as it is is left alone, and a key that runs nothing may change", () => {
  const path = createConfig(harmless);
  const config = new WatchedConfig(path, isPlanted);
  expect(config.check(putAside)).toEqual([]);
  writeFileSync(path, harmless.replace("abcdefgh", "hgfedcba"));
  expect(config.check(putAside)).toEqual([]);
  expect(readFileSync(path, "utf8")).toContain("hgfedcba");
});

test("a file that is too large to be read is set aside, also where there was none", () => {
  const large = `${harmful}#${"#".repeat(1024 * 1024)}\n`;
  for (const before of [harmless, undefined]) {
    const path = createConfig(before ?? large);
    const config =
      before === undefined ? WatchedConfig.createMissing(path, isPlanted) : new WatchedConfig(path, isPlanted);
    writeFileSync(path, large);
    expect(config.check((taken) => rmSync(taken))).toEqual(before === undefined ? [] : ["(all)"]);
    expect(existsSync(path) ? readFileSync(path, "utf8") : undefined).toBe(before);
  }
});

test("a change is undone where a command took the place of the draft", () => {
  const path = createConfig(harmless);
  const config = new WatchedConfig(path, isPlanted);
  writeFileSync(path, harmful);
  mkdirSync(`${path}.tau-${process.pid}/full`, { recursive: true });
  expect(config.check(putAside)).toContain("core.pager");
  expect(readFileSync(path, "utf8")).not.toContain("pager");
});

test("a file that cannot be written is set aside as a whole", () => {
  // Its draft would have a name that is too long.
  const path = createConfig(harmless, "c".repeat(255));
  const config = new WatchedConfig(path, isPlanted);
  writeFileSync(path, harmful);
  expect(config.check((taken) => rmSync(taken))).toEqual([]);
  expect(existsSync(path)).toBe(false);
});
