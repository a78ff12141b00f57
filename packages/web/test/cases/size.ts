import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Shared } from "../kit.ts";

export function sizeCases(shared: Shared): void {
  test("the first load is at most 80 KB as it is shipped, and everything in it is a file of the page's own", async () => {
    const { pageDirectory, url } = shared.kit;
    const html = await readFile(join(pageDirectory, "index.html"), "utf8");
    const links = [...html.matchAll(/(?:src|href)="\/([^"]*)"/g)].map((match) => match[1]!);
    const files = await Promise.all(["index.html", ...links].map((name) => readFile(join(pageDirectory, name))));
    const bytes = files.reduce((sum, file) => sum + gzipSync(file).length, 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThanOrEqual(80_000);
    // One script, which imports no other at its beginning: what is loaded later shares its modules.
    const [script, ...others] = links.filter((name) => name.endsWith(".js"));
    expect(others).toEqual([]);
    const code = await readFile(join(pageDirectory, script!), "utf8");
    expect(code).not.toMatch(/(?:^|[;}])import\s*(?:"|'|\{|\w+\s+from|\*)/);
    const response = await fetch(`${url}/${script}`, { headers: { "accept-encoding": "gzip" } });
    expect(Number(response.headers.get("content-length"))).toBeLessThan(80_000);

    expect(html.match(/(?:src|href)="[^"]*"/g)?.every((link) => /="\/(?!\/)/.test(link))).toBe(true);
    // The page's policy would block them.
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
  });
}
