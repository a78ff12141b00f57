/** `/lsp` in a session, and the row of `tau doctor`: what people see of language servers. */
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SettingsManager } from "@tau/config/settings";
import { expect, test } from "vitest";
import { lsp } from "../../src/index.ts";
import { checkLanguageServers } from "../../src/lsp/doctor.ts";
import { DialogSurface } from "../dialogs.ts";
import { listResults, lspCall, makeDirectory, readLines, runCalls, toyServer, writeFiles } from "./kit.ts";

test("/lsp shows what runs, restarts it and stops it", async () => {
  const cwd = await makeDirectory();
  const starts = join(cwd, "starts");
  await writeFiles(cwd, { "a.toy": "def one\n" });
  const settings = { lsp: { servers: { toy: { ...toyServer("good", starts) } } } } as object;
  const hover = lspCall({ action: "hover", file: "a.toy", line: 1 }, "1");
  const { opened } = await runCalls([hover], { cwd, settings });
  const first = ({ options }: { options?: readonly string[] }) => options![0];
  const person = new DialogSurface([first, "Restart", first, "Stop", undefined]);
  await opened.session.attachSurface(person);
  await opened.session.prompt("/lsp");
  // The state depends on how busy this machine is.
  const rows = person.dialogs.map(({ title, options = [] }) =>
    [title, ...options].map((line) => line.replace(/: (?:ready|idle for \d+ s), (\d) files? open.*/, ": $1")),
  );
  const server = `toy (toy 1) in ${cwd}`;
  expect(rows).toEqual([
    ["Language servers", `${server}: 1`],
    [`${server}: 1`, "Restart", "Stop"],
    ["Language servers", `${server}: 0`],
    [`${server}: 0`, "Restart", "Stop"],
    ["Language servers"],
  ]);
  expect(await readLines(starts)).toHaveLength(2);
  await opened.session.prompt("/lsp");
  expect(person.notices.join("\n")).toContain("No language server is running. One starts when it is first asked");
  opened.model.add([{ ...hover, id: "2" }], [{ type: "text", text: "Done." }]);
  await opened.prompt("again");
  expect(listResults(opened).at(-1)!.text).toBe("word def");
  expect(await readLines(starts)).toHaveLength(3);
});

test("/lsp shows a server that could not be started, and tries it again", async () => {
  const cwd = await makeDirectory();
  const starts = join(cwd, "starts");
  await writeFiles(cwd, { "a.toy": "def one\n" });
  const settings = { lsp: { servers: { toy: { ...toyServer("crash-at-start", starts) } } } } as object;
  const { opened } = await runCalls([lspCall({ action: "hover", file: "a.toy", line: 1 }, "1")], { cwd, settings });
  const first = ({ options }: { options?: readonly string[] }) => options![0];
  const person = new DialogSurface([first, "Try again", undefined]);
  await opened.session.attachSurface(person);
  await opened.session.prompt("/lsp");
  expect(person.dialogs[0]!.options).toEqual([expect.stringMatching(/: could not be started$/)]);
  expect(person.dialogs[1]!.title).toContain("no such library");
  expect(person.notices.join("\n")).toContain("no such library");
  expect(await readLines(starts)).toHaveLength(2);
});

test("tau doctor lists the servers that fit the project, and what installs the missing ones", async () => {
  const cwd = await makeDirectory();
  const check = (servers: object = {}) =>
    checkLanguageServers({
      cwd,
      agentDir: cwd,
      settings: SettingsManager.inMemory({ lsp: { servers } } as object, { features: [lsp()], projectTrusted: true }),
      env: process.env,
      canStartPrograms: true,
      openAuth: () => Promise.reject(new Error("There are no keys.")),
    });
  expect(await check()).toEqual({ status: "ok", says: "No server is known for this kind of project." });
  const own = { command: "toy-server-of-a-test", fileTypes: [".toy"], rootMarkers: ["toy.project"] };
  await writeFile(join(cwd, "toy.project"), "");
  const missing = await check({ toy: own });
  expect(missing).toMatchObject({ status: "warn", says: "None that fits this project is installed. Missing: toy." });
  expect(missing.fix).toBe("toy: toy-server-of-a-test");
  await mkdir(join(cwd, "bin"));
  await writeFile(join(cwd, "bin/toy-server-of-a-test"), "#!/bin/sh\n");
  await chmod(join(cwd, "bin/toy-server-of-a-test"), 0o755);
  expect(await check({ toy: own })).toEqual({ status: "ok", says: "Installed: toy." });
  // A linter is wanted beside the server, and another server for the same files is not.
  const more = {
    other: { ...own, command: "missing-other" },
    lint: { ...own, command: "missing-lint", isLinter: true },
  };
  expect(await check({ toy: own, ...more })).toMatchObject({ says: "Installed: toy. Missing: lint." });
  await writeFile(join(cwd, "lsp.json"), JSON.stringify({ servers: { broken: { fileTypes: 7 } } }));
  expect(await check()).toMatchObject({
    status: "warn",
    says: expect.stringContaining("The server broken:") as unknown,
  });
});
