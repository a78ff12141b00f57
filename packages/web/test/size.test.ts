import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { expect, onTestFinished, test } from "vitest";

test("the first load is at most 80 KB, and everything in it is a file of the page's own", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tau-web-size-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await build({ configFile: join(import.meta.dirname, "..", "vite.config.mjs"), build: { outDir: directory } });
  const names = (await readdir(directory, { recursive: true })).filter((name) => extname(name) !== "");
  const files = await Promise.all(names.map((name) => readFile(join(directory, name))));
  const bytes = files.reduce((sum, file) => sum + gzipSync(file).length, 0);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThanOrEqual(80_000);

  const html = await readFile(join(directory, "index.html"), "utf8");
  expect(html.match(/(?:src|href)="[^"]*"/g)?.every((link) => /="\/(?!\/)/.test(link))).toBe(true);
  // The page's policy would block them.
  expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
});
