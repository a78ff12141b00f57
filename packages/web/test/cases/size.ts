import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Shared } from "../kit.ts";

export function sizeCases(shared: Shared): void {
  test("the first load is at most 80 KB, and everything in it is a file of the page's own", async () => {
    const { pageDirectory, url } = shared.kit;
    const names = (await readdir(pageDirectory, { recursive: true })).filter((name) => extname(name) !== "");
    const files = await Promise.all(names.map((name) => readFile(join(pageDirectory, name))));
    const bytes = files.reduce((sum, file) => sum + gzipSync(file).length, 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThanOrEqual(80_000);
    const script = names.find((name) => name.endsWith(".js"))!;
    const response = await fetch(`${url}/${script}`, { headers: { "accept-encoding": "gzip" } });
    expect(Number(response.headers.get("content-length"))).toBeLessThan(80_000);

    const html = await readFile(join(pageDirectory, "index.html"), "utf8");
    expect(html.match(/(?:src|href)="[^"]*"/g)?.every((link) => /="\/(?!\/)/.test(link))).toBe(true);
    // The page's policy would block them.
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
  });
}
