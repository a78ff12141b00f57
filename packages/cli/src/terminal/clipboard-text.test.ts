import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { copyToSystem, listCopyCommands } from "./clipboard-text.ts";

test.each([
  ["darwin", {}, ["pbcopy"]],
  ["win32", {}, ["clip"]],
  ["linux", {}, []],
  ["linux", { DISPLAY: ":0" }, ["xclip", "xsel"]],
  ["linux", { DISPLAY: ":0", WAYLAND_DISPLAY: "wayland-0" }, ["wl-copy", "xclip", "xsel"]],
  ["linux", { WSL_DISTRO_NAME: "Ubuntu" }, ["clip.exe"]],
  ["linux", { DISPLAY: ":0", SSH_CONNECTION: "1 2 3 4" }, []],
  ["darwin", { SSH_TTY: "/dev/pts/1" }, []],
] as const)("on %s with %j", (platform, env, names) => {
  expect(listCopyCommands(env, platform).map(([name]) => name)).toEqual(names);
});

test("a program that fails or is missing is passed over", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tau-copy-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
  const write = async (name: string, script: string) => {
    await writeFile(join(directory, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(directory, name), 0o755);
  };
  const env = { PATH: `${directory}:/usr/bin:/bin`, DISPLAY: ":0", WAYLAND_DISPLAY: "w", OUT: join(directory, "out") };
  await write("xclip", "exit 1");
  expect(await copyToSystem("text", { ...env, PATH: directory }, "linux")).toBe(false);
  await write("xsel", 'cat > "$OUT"');
  expect(await copyToSystem("ä text\nof two lines", env, "linux")).toBe(true);
  expect(await readFile(env.OUT, "utf8")).toBe("ä text\nof two lines");
});

test("a program that cannot be started at all is passed over", async () => {
  expect(await copyToSystem("text", { DISPLAY: ":0", NAME: "no variable can hold \0" }, "linux")).toBe(false);
});
