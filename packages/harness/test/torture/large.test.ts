/** A session of a hundred thousand entries, in its own process. See `kit.ts` for longer runs. */
import { execFileSync } from "node:child_process";
import { closeSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { encodeLine } from "../../src/session/line.ts";
import { recover } from "../../src/session/recover.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { bundle, entry, header, hexId, idsIn, patience, plainLine, scratch, times, user } from "./kit.ts";

for (const [name, encode] of [
  ["with checksums", encodeLine],
  ["without checksums, as other programs write it", plainLine],
] as const) {
  test(
    `a hundred thousand entries ${name} open in less than two seconds, with and without an index`,
    { timeout: patience(60) },
    async () => {
      const directory = scratch();
      const script = await bundle("reader", directory);
      const path = join(directory, "2026-01-01T00-00-00-000Z_torture.jsonl");
      const count = times(100_000);
      const file = openSync(path, "w");
      writeSync(file, encode(header()));
      for (let index = 0; index < count; index += 1_000) {
        const batch = Array.from({ length: 1_000 }, (_unused, step) => numbered(index + step + 1));
        writeSync(file, Buffer.concat(batch.map(encode)));
      }
      closeSync(file);
      const read = () => JSON.parse(execFileSync(process.execPath, [script, path], { encoding: "utf8" })) as Figures;
      const [cold, warm] = [read(), read()];
      console.log(
        `${count} entries ${name}, ${statSync(path).size >> 20} MB: cold ${JSON.stringify(cold)}, warm ${JSON.stringify(warm)}`,
      );
      for (const figures of [cold, warm]) {
        expect(figures).toMatchObject({ entries: count, problems: 0, leafId: hexId(count) });
        // CPU time, so that the load of the machine does not count.
        expect(figures.cpuMs).toBeLessThan(times(2_000));
        expect(figures.moreMB).toBeLessThan(times(120));
      }
      expect(warm.cpuMs).toBeLessThan(Math.max(cold.cpuMs, 100));
    },
  );
}

test(
  "entries that are appended faster than the disk writes have the right positions",
  { timeout: patience(60) },
  async () => {
    const session = await SessionManager.create("/project", scratch(), { durability: "none" });
    const texts = Array.from(
      { length: times(2_000) },
      (_unused, index) => `${index}:${"x".repeat((index * 37) % 16_000)}`,
    );
    const ids = await Promise.all(texts.map((text) => session.appendMessage(user(text))));
    const entries = await session.getEntries();
    expect(entries.map(({ id }) => id)).toEqual(ids);
    expect(
      entries.map(
        (logEntry) => logEntry.type === "message" && logEntry.message.role === "user" && logEntry.message.content,
      ),
    ).toEqual(texts);
    await session.close();
    const bytes = readFileSync(session.getSessionFile()!);
    expect(bytes.length).toBeGreaterThan(8 * 1024 * 1024);
    const recovered = recover(bytes);
    expect(recovered.problems).toEqual([]);
    expect(idsIn(bytes, recovered)).toEqual(ids);
  },
);

interface Figures {
  entries: number;
  problems: number;
  leafId: string;
  cpuMs: number;
  wallMs: number;
  moreMB: number;
}

const numbered = (number: number) => ({
  ...entry(number),
  id: hexId(number),
  parentId: number === 1 ? null : hexId(number - 1),
});
